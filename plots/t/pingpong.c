/* Ping-pong: a protocol that exists to be drawn. It does nothing
 * else.
 *
 * Transitions:
 *     IDLE -> SERVED : serve()  [ball]
 *     SERVED -> IDLE : miss() [timer, or a ball that
 *         comes too late]
 *     SERVED -> SERVED
 *
 * Invariants: none.
 */
int ping(void);

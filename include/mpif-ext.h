! Has the error classes of mpi-ext.h, for Fortran programs in fixed or in free form.
      integer MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING
      integer MPIX_ERR_REVOKED
      parameter (MPIX_ERR_PROC_FAILED = 1001)
      parameter (MPIX_ERR_PROC_FAILED_PENDING = 1002)
      parameter (MPIX_ERR_REVOKED = 1003)

"""Calls the library by ctypes, as a Python package that loads it does."""
import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[1])
world, integer, total = ctypes.c_void_p(257), ctypes.c_void_p(521), ctypes.c_void_p(33)
rank, size, got, added = (ctypes.c_int() for _ in range(4))

assert mpi.MPI_Init(None, None) == 0
assert mpi.MPI_Comm_rank(world, ctypes.byref(rank)) == 0
assert mpi.MPI_Comm_size(world, ctypes.byref(size)) == 0
right, left = (rank.value + 1) % size.value, (rank.value - 1) % size.value
assert mpi.MPI_Sendrecv(ctypes.byref(rank), 1, integer, right, 0, ctypes.byref(got), 1, integer, left, 0, world, None) == 0
assert got.value == left, got
assert mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(added), 1, integer, total, world) == 0
assert added.value == size.value * (size.value - 1) // 2, added
assert mpi.MPI_Finalize() == 0

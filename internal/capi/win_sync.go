package capi

import "github.com/weft-mpi/weft/mpi"

// assert is promises of the program. The bits of package mpi are those of C; bits that are
// none of them its calls refuse.
func (a *Args) assert(i int) mpi.Assert {
	if n := a.int(i); n == int(mpi.Assert(n)) {
		return mpi.Assert(n)
	}
	return ^mpi.Assert(0)
}

func winFence(a *Args) error    { return a.win(1).Fence(a.assert(0)) }
func winPost(a *Args) error     { return a.win(2).Post(a.group(0), a.assert(1)) }
func winStart(a *Args) error    { return a.win(2).Start(a.group(0), a.assert(1)) }
func winComplete(a *Args) error { return a.win(0).Complete() }
func winWait(a *Args) error     { return a.win(0).Wait() }

func winTest(a *Args) error {
	ended, err := a.win(0).Test()
	a.setFlag(1, ended)
	return err
}

func winLock(a *Args) error {
	return a.win(3).Lock(mpi.LockKind(a.int(0)), a.int(1), a.assert(2))
}

func winLockAll(a *Args) error       { return a.win(1).LockAll(a.assert(0)) }
func winUnlock(a *Args) error        { return a.win(1).Unlock(a.int(0)) }
func winUnlockAll(a *Args) error     { return a.win(0).UnlockAll() }
func winFlush(a *Args) error         { return a.win(1).Flush(a.int(0)) }
func winFlushAll(a *Args) error      { return a.win(0).FlushAll() }
func winFlushLocal(a *Args) error    { return a.win(1).FlushLocal(a.int(0)) }
func winFlushLocalAll(a *Args) error { return a.win(0).FlushLocalAll() }
func winSync(a *Args) error          { return a.win(0).Sync() }

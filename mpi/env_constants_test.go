package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestSpecialNumbersHaveMPI5sValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"AnySource", mpi.AnySource, -1}, {"AnyTag", mpi.AnyTag, -2}, {"ProcNull", mpi.ProcNull, -3},
		{"Root", mpi.Root, -4}, {"Undefined", mpi.Undefined, -32766},
		{"Ident", int(mpi.Ident), 201}, {"Congruent", int(mpi.Congruent), 202}, {"Similar", int(mpi.Similar), 203}, {"Unequal", int(mpi.Unequal), 204},
		{"TopologyCart", int(mpi.TopologyCart), 211}, {"TopologyGraph", int(mpi.TopologyGraph), 212}, {"TopologyDistGraph", int(mpi.TopologyDistGraph), 213},
		{"ThreadSingle", int(mpi.ThreadSingle), 0}, {"ThreadFunneled", int(mpi.ThreadFunneled), 1024},
		{"ThreadSerialized", int(mpi.ThreadSerialized), 2048}, {"ThreadMultiple", int(mpi.ThreadMultiple), 4096},
		{"MaxInfoKey", mpi.MaxInfoKey, 255}, {"MaxInfoValue", mpi.MaxInfoValue, 1023}, {"MaxErrorString", mpi.MaxErrorString, 511}, {"TypeShared", int(mpi.TypeShared), 221}, {"TypeHWUnguided", int(mpi.TypeHWUnguided), 222}, {"TypeHWGuided", int(mpi.TypeHWGuided), 223},
		{"OrderC", int(mpi.OrderC), 12}, {"OrderFortran", int(mpi.OrderFortran), 15},
		{"DistributeNone", int(mpi.DistributeNone), 16}, {"DistributeBlock", int(mpi.DistributeBlock), 17}, {"DistributeCyclic", int(mpi.DistributeCyclic), 18},
		{"CombinerNamed", int(mpi.CombinerNamed), 101}, {"CombinerDup", int(mpi.CombinerDup), 102}, {"CombinerContiguous", int(mpi.CombinerContiguous), 103},
		{"CombinerVector", int(mpi.CombinerVector), 104}, {"CombinerHvector", int(mpi.CombinerHvector), 105}, {"CombinerIndexed", int(mpi.CombinerIndexed), 106},
		{"CombinerHindexed", int(mpi.CombinerHindexed), 107}, {"CombinerIndexedBlock", int(mpi.CombinerIndexedBlock), 108}, {"CombinerHindexedBlock", int(mpi.CombinerHindexedBlock), 109},
		{"CombinerStruct", int(mpi.CombinerStruct), 110}, {"CombinerSubarray", int(mpi.CombinerSubarray), 111}, {"CombinerDarray", int(mpi.CombinerDarray), 112},
		{"CombinerResized", int(mpi.CombinerResized), 116},
		{"MaxObjectName", mpi.MaxObjectName, 127},
		{"LockExclusive", int(mpi.LockExclusive), 301}, {"LockShared", int(mpi.LockShared), 302},
		{"FlavorCreate", int(mpi.FlavorCreate), 311}, {"FlavorAllocate", int(mpi.FlavorAllocate), 312}, {"FlavorDynamic", int(mpi.FlavorDynamic), 313}, {"FlavorShared", int(mpi.FlavorShared), 314},
		{"WinUnified", int(mpi.WinUnified), 321}, {"WinSeparate", int(mpi.WinSeparate), 322},
		{"NoCheck", int(mpi.NoCheck), 1024}, {"NoPrecede", int(mpi.NoPrecede), 2048}, {"NoPut", int(mpi.NoPut), 4096}, {"NoStore", int(mpi.NoStore), 8192}, {"NoSucceed", int(mpi.NoSucceed), 16384},
	} {
		if c.got != c.want {
			t.Errorf("%s = %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestErrorClassesHaveMPI5sValues(t *testing.T) {
	for class, want := range map[mpi.Class]int{
		mpi.ErrBuffer: 1, mpi.ErrCount: 2, mpi.ErrType: 3, mpi.ErrTag: 4, mpi.ErrComm: 5, mpi.ErrRank: 6, mpi.ErrRequest: 7, mpi.ErrGroup: 9,
		mpi.ErrArg: 13, mpi.ErrTruncate: 15, mpi.ErrOther: 16, mpi.ErrPending: 18, mpi.ErrInStatus: 19, mpi.ErrBase: 24,
		mpi.ErrNoMem: 39, mpi.ErrUnsupported: 55,
		mpi.ErrRoot: 8, mpi.ErrOp: 10, mpi.ErrTopology: 11, mpi.ErrDims: 12, mpi.ErrUnknown: 14, mpi.ErrIntern: 17, mpi.ErrAccess: 20,
		mpi.ErrAmode: 21, mpi.ErrAssert: 22, mpi.ErrBadFile: 23, mpi.ErrConversion: 25, mpi.ErrDisp: 26, mpi.ErrDupDatarep: 27,
		mpi.ErrFileExists: 28, mpi.ErrFileInUse: 29, mpi.ErrFile: 30, mpi.ErrInfoKey: 31, mpi.ErrInfoNokey: 32, mpi.ErrInfoValue: 33,
		mpi.ErrInfo: 34, mpi.ErrIO: 35, mpi.ErrKeyval: 36, mpi.ErrLocktype: 37, mpi.ErrName: 38, mpi.ErrNotSame: 40, mpi.ErrNoSpace: 41,
		mpi.ErrNoSuchFile: 42, mpi.ErrPort: 43, mpi.ErrQuota: 44, mpi.ErrReadOnly: 45, mpi.ErrRMAAttach: 46, mpi.ErrRMAConflict: 47,
		mpi.ErrRMARange: 48, mpi.ErrRMAShared: 49, mpi.ErrRMASync: 50, mpi.ErrService: 51, mpi.ErrSize: 52, mpi.ErrSpawn: 53,
		mpi.ErrUnsupDatarep: 54, mpi.ErrWin: 56, mpi.ErrRMAFlavor: 57, mpi.ErrProcAborted: 58, mpi.ErrValueTooLarge: 59,
		mpi.ErrSession: 60, mpi.ErrErrhandler: 61,
	} {
		if int(class) != want {
			t.Errorf("%v = %d, want %d", class, int(class), want)
		}
	}
	const last = 0x3fff // MPI_ERR_LASTCODE
	if mpi.ErrProcFailed <= last || mpi.ErrCanceled <= last || mpi.ErrRevoked <= last || mpi.ErrProcFailedPending <= last {
		t.Error("a class of ours has a value that is MPI's")
	}
}

// What is one of them where another belongs is an error.
func TestNoSpecialNumberStandsForAnother(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			b := make([]byte, 1)
			for _, n := range []int{mpi.AnyTag, mpi.Root, mpi.Undefined} {
				_, err := mpi.Recv(c, b, n, 1)
				want(t, "Recv from it", err, mpi.ErrRank)
			}
			for _, n := range []int{mpi.AnySource, mpi.AnyTag, mpi.Root, mpi.Undefined} {
				want(t, "Send to it", mpi.Send(c, b, n, 1), mpi.ErrRank)
			}
			for _, n := range []int{mpi.AnySource, mpi.ProcNull, mpi.Root, mpi.Undefined} {
				_, err := mpi.Recv(c, b, 0, n)
				want(t, "Recv with it as tag", err, mpi.ErrTag)
			}
			if i, _, err := mpi.Waitany(make([]mpi.Request, 2)); i != mpi.Undefined || err != nil {
				t.Errorf("Waitany of null requests = %d, %v", i, err)
			}
			return nil
		})
	})
}

// A generalized request is no operation with ProcNull, nor is it ended when a
// rank dies.
func TestAGeneralizedRequestHasNoPeer(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		r := get(mpi.GrequestStart(w, nil, nil, nil))
		for _, p := range w.Pending() {
			if p.Peer >= -4 || p.Peer == mpi.Undefined {
				t.Errorf("it waits for %d", p.Peer)
			}
		}
		ok(mpi.GrequestComplete(r))
		get(mpi.Wait(&r))
	})
}

package mpi_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// functions are the exported functions of the package, generic ones for one type;
// TestNothingPanicsOnNil makes sure that none is missing.
var functions = map[string]any{
	"Alloc": mpi.Alloc[int32], "Free": mpi.Free[int32],
	"Send": mpi.Send[byte], "Ssend": mpi.Ssend[byte], "Rsend": mpi.Rsend[byte], "Bsend": mpi.Bsend[byte],
	"Isend": mpi.Isend[byte], "Issend": mpi.Issend[byte], "Irsend": mpi.Irsend[byte], "Ibsend": mpi.Ibsend[byte],
	"Recv": mpi.Recv[byte], "Irecv": mpi.Irecv[byte], "Mrecv": mpi.Mrecv[byte], "Imrecv": mpi.Imrecv[byte],
	"SendInit": mpi.SendInit[byte], "SsendInit": mpi.SsendInit[byte], "RsendInit": mpi.RsendInit[byte],
	"BsendInit": mpi.BsendInit[byte], "RecvInit": mpi.RecvInit[byte],
	"Sendrecv": mpi.Sendrecv[byte, byte], "SendrecvReplace": mpi.SendrecvReplace[byte],
	"Isendrecv": mpi.Isendrecv[byte, byte], "IsendrecvReplace": mpi.IsendrecvReplace[byte],
	"Probe": mpi.Probe, "Iprobe": mpi.Iprobe, "Mprobe": mpi.Mprobe, "Improbe": mpi.Improbe,
	"Start": mpi.Start, "Startall": mpi.Startall, "Cancel": mpi.Cancel, "RequestFree": mpi.RequestFree,
	"OnComplete": mpi.OnComplete, "RequestStatus": mpi.RequestStatus,
	"Wait": mpi.Wait, "Test": mpi.Test, "Waitall": mpi.Waitall, "Testall": mpi.Testall,
	"Waitany": mpi.Waitany, "Testany": mpi.Testany, "Waitsome": mpi.Waitsome, "Testsome": mpi.Testsome,
	"GrequestStart": mpi.GrequestStart, "GrequestComplete": mpi.GrequestComplete,
	"PsendInit": mpi.PsendInit[byte], "PrecvInit": mpi.PrecvInit[byte], "Partitions": mpi.Partitions,
	"Pready": mpi.Pready, "PreadyRange": mpi.PreadyRange, "PreadyList": mpi.PreadyList, "Parrived": mpi.Parrived,
	"Bcast": mpi.Bcast[byte], "Gather": mpi.Gather[byte], "Gatherv": mpi.Gatherv[byte], "Scatter": mpi.Scatter[byte], "Scatterv": mpi.Scatterv[byte],
	"Allgather": mpi.Allgather[byte], "Allgatherv": mpi.Allgatherv[byte], "Alltoall": mpi.Alltoall[byte], "Alltoallv": mpi.Alltoallv[byte],
	"Reduce": mpi.Reduce[byte, *mpi.Op], "Allreduce": mpi.Allreduce[byte, *mpi.Op], "ReduceScatterBlock": mpi.ReduceScatterBlock[byte, *mpi.Op], "ReduceScatter": mpi.ReduceScatter[byte, *mpi.Op],
	"Scan": mpi.Scan[byte, *mpi.Op], "Exscan": mpi.Exscan[byte, *mpi.Op],
	"Ibcast": mpi.Ibcast[byte], "Igather": mpi.Igather[byte], "Igatherv": mpi.Igatherv[byte], "Iscatter": mpi.Iscatter[byte], "Iscatterv": mpi.Iscatterv[byte],
	"Iallgather": mpi.Iallgather[byte], "Iallgatherv": mpi.Iallgatherv[byte], "Ialltoall": mpi.Ialltoall[byte], "Ialltoallv": mpi.Ialltoallv[byte],
	"Ireduce": mpi.Ireduce[byte, *mpi.Op], "Iallreduce": mpi.Iallreduce[byte, *mpi.Op], "IreduceScatterBlock": mpi.IreduceScatterBlock[byte, *mpi.Op], "IreduceScatter": mpi.IreduceScatter[byte, *mpi.Op],
	"Iscan": mpi.Iscan[byte, *mpi.Op], "Iexscan": mpi.Iexscan[byte, *mpi.Op],
	"BcastInit": mpi.BcastInit[byte], "GatherInit": mpi.GatherInit[byte], "GathervInit": mpi.GathervInit[byte], "ScatterInit": mpi.ScatterInit[byte], "ScattervInit": mpi.ScattervInit[byte],
	"AllgatherInit": mpi.AllgatherInit[byte], "AllgathervInit": mpi.AllgathervInit[byte], "AlltoallInit": mpi.AlltoallInit[byte], "AlltoallvInit": mpi.AlltoallvInit[byte],
	"ReduceInit": mpi.ReduceInit[byte, *mpi.Op], "AllreduceInit": mpi.AllreduceInit[byte, *mpi.Op], "ReduceScatterBlockInit": mpi.ReduceScatterBlockInit[byte, *mpi.Op], "ReduceScatterInit": mpi.ReduceScatterInit[byte, *mpi.Op],
	"ScanInit": mpi.ScanInit[byte, *mpi.Op], "ExscanInit": mpi.ExscanInit[byte, *mpi.Op],
	"ReduceInPlace": mpi.ReduceInPlace[byte, *mpi.Op], "AllreduceInPlace": mpi.AllreduceInPlace[byte, *mpi.Op], "ReduceScatterBlockInPlace": mpi.ReduceScatterBlockInPlace[byte, *mpi.Op], "ReduceScatterInPlace": mpi.ReduceScatterInPlace[byte, *mpi.Op],
	"ScanInPlace": mpi.ScanInPlace[byte, *mpi.Op], "ExscanInPlace": mpi.ExscanInPlace[byte, *mpi.Op], "AllgatherInPlace": mpi.AllgatherInPlace[byte],
	"AllgathervInPlace": mpi.AllgathervInPlace[byte], "AlltoallInPlace": mpi.AlltoallInPlace[byte], "AlltoallvInPlace": mpi.AlltoallvInPlace[byte],
	"NewOp": mpi.NewOp[byte], "NewVectorOp": mpi.NewVectorOp[byte], "NewStructOp": mpi.NewStructOp[struct{}], "NewTypeOp": mpi.NewTypeOp, "Commutes": mpi.Commutes, "ReduceLocal": mpi.ReduceLocal[byte, *mpi.Op], "InPlace": mpi.InPlace[byte],
	"Count": mpi.Count[int32], "SetCount": mpi.SetCount[int32],
	"IntercommCreate": mpi.IntercommCreate,
	"Init":            mpi.Init, "Run": mpi.Run, "Initialized": mpi.Initialized, "Finalized": mpi.Finalized,
	"Fabrics": mpi.Fabrics, "FabricAvailable": mpi.FabricAvailable, "Devices": mpi.Devices, "NetAddresses": mpi.NetAddresses, "SharedGetMin": mpi.SharedGetMin,
	"Settings": mpi.Settings, "CheckEnvironment": mpi.CheckEnvironment, "Protocols": mpi.Protocols, "Algorithms": mpi.Algorithms,
	"Wtime": mpi.Wtime, "Wtick": mpi.Wtick, "ProcessorName": mpi.ProcessorName, "Version": mpi.Version,
	"LibraryVersion": mpi.LibraryVersion, "QueryThread": mpi.QueryThread, "InfoEnv": mpi.InfoEnv,
	"NewKeyval": mpi.NewKeyval[int], "NewErrhandler": mpi.NewErrhandler, "NewInfo": mpi.NewInfo,
	"AddErrorClass": mpi.AddErrorClass, "AddErrorCode": mpi.AddErrorCode, "AddErrorString": mpi.AddErrorString,
	"RemoveErrorClass": mpi.RemoveErrorClass, "RemoveErrorCode": mpi.RemoveErrorCode, "RemoveErrorString": mpi.RemoveErrorString,
	"ErrorClass": mpi.ErrorClass, "ErrorString": mpi.ErrorString, "LastUsedCode": mpi.LastUsedCode,
	"NewSession": mpi.NewSession, "RunSessions": mpi.RunSessions, "NewSessionErrhandler": mpi.NewSessionErrhandler,
	"CommCreateFromGroup": mpi.CommCreateFromGroup, "IntercommCreateFromGroups": mpi.IntercommCreateFromGroups,
	"WinCreate": mpi.WinCreate[byte], "WinAllocate": mpi.WinAllocate[byte], "WinAllocateShared": mpi.WinAllocateShared[byte], "WinCreateDynamic": mpi.WinCreateDynamic,
	"Attach": mpi.Attach[byte], "Detach": mpi.Detach[byte], "Put": mpi.Put[byte], "Get": mpi.Get[byte], "Accumulate": mpi.Accumulate[byte],
	"GetAccumulate": mpi.GetAccumulate[byte], "FetchAndOp": mpi.FetchAndOp[byte], "CompareAndSwap": mpi.CompareAndSwap[byte], "Rput": mpi.Rput[byte],
	"Rget": mpi.Rget[byte], "Raccumulate": mpi.Raccumulate[byte], "RgetAccumulate": mpi.RgetAccumulate[byte],
	"Of": mpi.Of[byte], "OfStructs": mpi.OfStructs[struct{}], "As": mpi.As[byte], "Memory": mpi.Memory,
	"TypeOf": mpi.TypeOf[struct{}], "TypeContiguous": mpi.TypeContiguous, "TypeVector": mpi.TypeVector, "TypeHvector": mpi.TypeHvector,
	"TypeIndexed": mpi.TypeIndexed, "TypeHindexed": mpi.TypeHindexed, "TypeIndexedBlock": mpi.TypeIndexedBlock, "TypeHindexedBlock": mpi.TypeHindexedBlock,
	"TypeStruct": mpi.TypeStruct, "TypeSubarray": mpi.TypeSubarray, "TypeDarray": mpi.TypeDarray, "TypeResized": mpi.TypeResized,
	"Strided": mpi.Strided[byte], "Subarray": mpi.Subarray[byte], "Indexed": mpi.Indexed[byte],
	"Pack": mpi.Pack, "Unpack": mpi.Unpack, "PackSize": mpi.PackSize,
	"PackExternal": mpi.PackExternal, "UnpackExternal": mpi.UnpackExternal, "PackExternalSize": mpi.PackExternalSize,
	"Address": mpi.Address[int], "AintAdd": mpi.AintAdd, "AintDiff": mpi.AintDiff, "NewTypeKeyval": mpi.NewTypeKeyval[int],
	"NewWinErrhandler": mpi.NewWinErrhandler, "NewWinKeyval": mpi.NewWinKeyval[int],
	"DimsCreate":        mpi.DimsCreate,
	"NeighborAllgather": mpi.NeighborAllgather[byte], "NeighborAllgatherv": mpi.NeighborAllgatherv[byte], "NeighborAlltoall": mpi.NeighborAlltoall[byte], "NeighborAlltoallv": mpi.NeighborAlltoallv[byte],
	"IneighborAllgather": mpi.IneighborAllgather[byte], "IneighborAllgatherv": mpi.IneighborAllgatherv[byte], "IneighborAlltoall": mpi.IneighborAlltoall[byte], "IneighborAlltoallv": mpi.IneighborAlltoallv[byte],
	"NeighborAllgatherInit": mpi.NeighborAllgatherInit[byte], "NeighborAllgathervInit": mpi.NeighborAllgathervInit[byte], "NeighborAlltoallInit": mpi.NeighborAlltoallInit[byte], "NeighborAlltoallvInit": mpi.NeighborAlltoallvInit[byte],
	"WithFabric": mpi.WithFabric, "WithLogger": mpi.WithLogger, "WithLimits": mpi.WithLimits,
	"WithWatchdog": mpi.WithWatchdog, "WithChecks": mpi.WithChecks, "WithWindowChecks": mpi.WithWindowChecks, "WithTypeChecks": mpi.WithTypeChecks, "WithoutProgressThread": mpi.WithoutProgressThread, "WithoutSIGQUIT": mpi.WithoutSIGQUIT, "WithoutPeek": mpi.WithoutPeek, "WithLockedThreads": mpi.WithLockedThreads, "WithLateReceives": mpi.WithLateReceives, "WithTrace": mpi.WithTrace,
}

// values are one value of each exported type that has methods, the zero one or,
// of types that are used by pointer, nil and a pointer to the zero one.
var values = map[string][]any{
	"World": {(*mpi.World)(nil), new(mpi.World)},
	"Comm":  {(*mpi.Comm)(nil), new(mpi.Comm)}, "Session": {(*mpi.Session)(nil), new(mpi.Session)},
	"Group": {(*mpi.Group)(nil), new(mpi.Group), mpi.GroupEmpty}, "Comparison": {mpi.Comparison(0)}, "SplitKind": {mpi.SplitKind(0)}, "TopologyKind": {mpi.TopologyKind(0)},
	"Request": {mpi.Request{}}, "Message": {mpi.Message{}, new(mpi.Message)}, "Status": {mpi.Status{}, new(mpi.Status)}, "Pending": {mpi.Pending{}},
	"Buf": {mpi.Buf{}, mpi.BufInPlace}, "Datatype": {(*mpi.Datatype)(nil), new(mpi.Datatype)}, "TypeKeyval": {(*mpi.TypeKeyval[int])(nil), new(mpi.TypeKeyval[int])},
	"Combiner": {mpi.Combiner(0)}, "Order": {mpi.Order(0)}, "Dist": {mpi.Dist(0)}, "ArgError": {&mpi.ArgError{}}, "SignatureError": {&mpi.SignatureError{}},
	"Snapshot": {new(mpi.Snapshot)},
	"Win":      {(*mpi.Win)(nil), new(mpi.Win)}, "Window": {mpi.Window[int]{}, mpi.Window[int]{Win: new(mpi.Win)}}, "WinKeyval": {(*mpi.WinKeyval[int])(nil), new(mpi.WinKeyval[int])},
	"WinFlavor": {mpi.WinFlavor(0)}, "WinModel": {mpi.WinModel(0)}, "LockKind": {mpi.LockKind(0)}, "Assert": {mpi.Assert(0)},
	"Keyval": {(*mpi.Keyval[int])(nil), new(mpi.Keyval[int])}, "Errhandler": {(*mpi.Errhandler)(nil), new(mpi.Errhandler)},
	"Info": {(*mpi.Info)(nil), new(mpi.Info)}, "ThreadLevel": {mpi.ThreadLevel(0)}, "AbortError": {&mpi.AbortError{}},
	"Partitioned": {(*mpi.Partitioned)(nil), new(mpi.Partitioned)}, "PartitionError": {&mpi.PartitionError{}}, "SizeError": {&mpi.SizeError{}}, "GoneError": {&mpi.GoneError{}}, "UnreadError": {&mpi.UnreadError{}},
	"Limits": {mpi.Limits{}}, "LateReceives": {mpi.LateReceives{}}, "Class": {mpi.Class(0)}, "Option": {mpi.Option(nil)}, "Error": {&mpi.Error{}},
	"TruncateError": {&mpi.TruncateError{}}, "NoBufferError": {&mpi.NoBufferError{}}, "LimitError": {&mpi.LimitError{}},
	"FabricError": {&mpi.FabricError{}}, "EnvError": {&mpi.EnvError{}}, "LostError": {&mpi.LostError{}},
	"Op": {(*mpi.Op)(nil), new(mpi.Op)}, "OpOf": {(*mpi.OpOf[byte])(nil), new(mpi.OpOf[byte])}, "OpOption": {mpi.OpOption(nil)},
	"ConflictError": {&mpi.ConflictError{}}, "WinAccess": {mpi.WinAccess{}},
	"LengthError": {&mpi.LengthError{}}, "CallError": {&mpi.CallError{}}, "MismatchError": {&mpi.MismatchError{}}, "BrokenError": {&mpi.BrokenError{}}, "OperatorError": {&mpi.OperatorError{}},
	"Device": {mpi.Device{}}, "DevicePort": {mpi.DevicePort{}}, "DeviceGID": {mpi.DeviceGID{}},
	"NetAddress": {mpi.NetAddress{}}, "NetInterface": {mpi.NetInterface{}},
}

// noValues are the exported types that have no methods to call.
var noValues = map[string]bool{"Scalar": true, "SnapshotFamily": true, "SnapshotRow": true, "Range": true, "CommOptions": true, "WinOptions": true,
	"Setting": true, "Loc": true, "Origin": true, "Protocol": true, "Algorithm": true, "Operator": true, "BufOperator": true, "CartOptions": true, "CartInfo": true, "GraphOptions": true, "DistGraph": true, "DistGraphEdges": true}

// What is nil or zero, after an error that was not looked at say, is answered
// with an error where there is one to answer, and never with a panic.
func TestNothingPanicsOnNil(t *testing.T) {
	funcs, types := exported(t)
	for name := range funcs {
		if functions[name] == nil {
			t.Errorf("the function %s is not among those that are called here", name)
		}
	}
	for name := range types {
		if values[name] == nil && !noValues[name] {
			t.Errorf("the type %s is not among those whose methods are called here", name)
		}
	}
	for name, f := range functions {
		if !funcs[name] {
			t.Errorf("there is no function %s any more", name)
		}
		callWithNothing(t, name, reflect.ValueOf(f))
	}
	for name, vs := range values {
		if !types[name] {
			t.Errorf("there is no type %s any more", name)
		}
		for _, v := range vs {
			r := reflect.ValueOf(v)
			for i := range r.NumMethod() {
				if r.Type().Method(i).Name == "Abort" {
					continue // which ends the process, whatever it is called on
				}
				callWithNothing(t, fmt.Sprintf("(%T).%s", v, r.Type().Method(i).Name), r.Method(i))
			}
		}
	}
}

// sources are the files of the package but for tests, with their comments.
func sources(t *testing.T) (files []*ast.File) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// exported lists the exported functions and types of the package's sources.
func exported(t *testing.T) (funcs, types map[string]bool) {
	funcs, types = map[string]bool{}, map[string]bool{}
	for _, f := range sources(t) {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					funcs[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
						types[s.Name.Name] = true
					}
				}
			}
		}
	}
	return funcs, types
}

// callWithNothing calls f with zero arguments, and again with pointers to zero
// values in the place of nil ones. Where f can return an error and has been given
// nothing to work with, it is to do so.
func callWithNothing(t *testing.T, name string, f reflect.Value) {
	t.Helper()
	for _, pointers := range []bool{false, true} {
		var args []reflect.Value
		ft := f.Type()
		for i := range ft.NumIn() {
			if ft.IsVariadic() && i == ft.NumIn()-1 {
				break
			}
			in := ft.In(i)
			if pointers && in.Kind() == reflect.Pointer {
				args = append(args, reflect.New(in.Elem()))
			} else {
				args = append(args, reflect.Zero(in))
			}
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s panics (pointers to zero values: %t): %v\n%s", name, pointers, p, debug.Stack())
				}
			}()
			out := f.Call(args)
			if len(args) == 0 || len(out) == 0 || !slices.Contains(nothings, ft.In(0)) {
				return
			}
			if err, _ := out[len(out)-1].Interface().(error); err == nil {
				t.Errorf("%s answers %v without an error (pointers to zero values: %t)", name, out, pointers)
			}
		}()
	}
}

// nothings are the types of what a call has nothing to work with without.
var nothings = []reflect.Type{reflect.TypeFor[*mpi.Comm](), reflect.TypeFor[*mpi.World](), reflect.TypeFor[*mpi.Win]()}

// Methods that can return an error and whose receiver is nothing do so.
func TestMethodsOfNilAnswerErrComm(t *testing.T) {
	for name, class := range map[string]mpi.Class{"World": mpi.ErrComm, "Comm": mpi.ErrComm, "Win": mpi.ErrWin, "Window": mpi.ErrWin} {
		for _, v := range values[name] {
			r := reflect.ValueOf(v)
			for i := range r.NumMethod() {
				f := r.Method(i)
				n := f.Type().NumOut()
				if n == 0 || f.Type().Out(n-1) != reflect.TypeFor[error]() {
					continue
				}
				var args []reflect.Value
				for k := range f.Type().NumIn() {
					args = append(args, reflect.Zero(f.Type().In(k)))
				}
				if f.Type().IsVariadic() {
					args = args[:len(args)-1]
				}
				err, _ := f.Call(args)[n-1].Interface().(error)
				want(t, fmt.Sprintf("(%T).%s", v, r.Type().Method(i).Name), err, class)
			}
		}
	}
	var c *mpi.Comm
	var w *mpi.World
	var win mpi.Window[int32]
	if win.Local() != nil || win.Group() != nil || win.Flavor() != 0 || win.Size() != 0 || win.DispUnit() != 0 || win.Model() != 0 || win.Name() != "" || win.Explain() != "" || win.Errhandler() != nil {
		t.Error("the zero Window has properties")
	}
	if c.Rank() != mpi.Undefined || c.Size() != 0 || c.Context() == nil || c.WithContext(t.Context()) != nil {
		t.Errorf("a nil Comm has the rank %d, the size %d, the context %v and becomes %v", c.Rank(), c.Size(), c.Context(), c.WithContext(t.Context()))
	}
	if c.Name() != "" || new(mpi.Comm).Name() != "" {
		t.Error("a nil Comm has a name")
	}
	for _, c := range []*mpi.Comm{nil, new(mpi.Comm)} {
		if c.Group() != nil || c.RemoteGroup() != nil || c.RemoteSize() != 0 || c.TestInter() {
			t.Errorf("a nil Comm has a group, or %d remote ranks", c.RemoteSize())
		}
	}
	if s := w.Snapshot(); len(s.Families) != 0 {
		t.Errorf("a nil World counts %v", s)
	}
	if _, known := w.AppNum(); known || w.Self() != nil || w.UniverseSize() != 0 || w.IsThreadMain() || c.Errhandler() != nil {
		t.Errorf("a nil World has the Self %v and the universe %d, a nil Comm the handler %v", w.Self(), w.UniverseSize(), c.Errhandler())
	}
	if w.Comm() != nil || w.Fabric() != "" || w.Pending() != nil {
		t.Errorf("a nil World has the Comm %v, the fabric %q and pending %v", w.Comm(), w.Fabric(), w.Pending())
	}
}

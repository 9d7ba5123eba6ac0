package mpi

import (
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// Option changes how the World, or the first Session, of a rank is made.
type Option func(*options)

type options struct {
	fabric   string
	log      *slog.Logger
	logs     *diagnose.LogQueue // the log's handler
	noThread bool
	late     LateReceives
	locked   bool
	limits   Limits
	watch    time.Duration
	watchTo  io.Writer
	noSignal bool
	noPeek   bool
	size     func(int) error // refuses a job of another number of ranks than Run is to have; nil: any will do
	checks   bool
	signs    bool                            // messages have signatures, see p2p_signed.go
	separate bool                            // windows have separate memory, unless the program says otherwise
	beat     func(look func()) (stop func()) // see comm.Config; nil but in tests

	trace      string // the file of the trace; "": there is none
	traceSpans int    // of each rank; 0: as many as the job's size suggests
}

func makeOptions(opts []Option) options {
	o := options{fabric: "auto", log: slog.Default(), limits: DefaultLimits}
	for _, f := range opts {
		if f != nil {
			f(&o)
		}
	}
	o.logs = diagnose.NewLogQueue(o.log.Handler())
	o.log = slog.New(o.logs)
	return o
}

// WithFabric chooses the transport by name, one of Fabrics. The default is
// "auto": between processes that of WEFT_FABRIC, otherwise shm; between
// goroutines mem. Local.
func WithFabric(name string) Option { return func(o *options) { o.fabric = name } }

// WithLogger sets where the library logs events that are no error of a call. The
// default, and the meaning of nil, is slog.Default. Its handler is called on a
// goroutine of its own, one record at a time, and may call anything but
// Finalize. Local.
func WithLogger(log *slog.Logger) Option {
	return func(o *options) {
		if o.log = log; log == nil {
			o.log = slog.Default()
		}
	}
}

// WithoutProgressThread leaves all progress to the calls of the application.
// Goroutines that wait are still woken. Other ranks' calls that need this rank
// then wait for its next call: Ssend, sends of announced messages, and the
// completion of such sends after Cancel, which MPI defines as local (MPI-4.0
// §3.5, §3.7.4, §3.8.4). Report and callbacks of OnComplete here wait for it
// too. Local.
func WithoutProgressThread() Option { return func(o *options) { o.noThread = true } }

// WithLockedThreads says that calls are made by goroutines that are locked to their threads
// (runtime.LockOSThread), as those of threads of C are. To let another goroutine run is slow
// there, so calls that wait do it less often. Local.
func WithLockedThreads() Option { return func(o *options) { o.locked = true } }

// LateReceives are of a layer above that starts receives later than its own callers ask
// for them, so as to start several at once. Start starts those that have been put off; it
// must not block. Unexpected is kept at the number of messages that no receive has matched.
type LateReceives struct {
	Start      func()
	Unexpected *atomic.Uint32
}

// WithLateReceives has the progress thread call Start whenever it has taken what has come,
// so that a message meets the receive that was asked for before it. Of a message that had
// come before, Unexpected tells: a receive must not be put off then. It is for Init: all
// ranks of Run would have the same, and after a Session it comes too late. Local.
func WithLateReceives(l LateReceives) Option { return func(o *options) { o.late = l } }

// Limits bound the memory of unreceived messages at a rank; see WithLimits. The
// first three are about messages whose bytes have arrived. Beyond them a peer
// only announces its further messages, so its Send waits for the receive.
// Messages is about all, announced ones included. Beyond it peers send nothing
// at all. Messages on their way at that time come on top.
type Limits struct {
	PeerBytes    uint64 // bytes of one peer's messages
	PeerMessages int    // messages of one peer
	Bytes        uint64 // bytes of all peers' messages
	Messages     int    // messages of all peers

	// Stall is how long a rank may be at Messages without any of them being
	// received; then the receives that wait for further messages fail with a
	// LimitError.
	Stall time.Duration
}

// DefaultLimits are the limits of a World without WithLimits: 4 MB and 131,072
// messages of one peer, 64 MB and 1,310,720 messages of all, ten seconds; about
// 250 MB in all.
var DefaultLimits = defaultLimits()

func defaultLimits() Limits { return Limits(pt2pt.DefaultLimits) }

// WithLimits bounds the memory of unreceived messages at this rank. Beyond the
// limits further messages wait at their senders. A receive whose message waits
// behind Limits.Messages others, while none of them is received for
// Limits.Stall, fails with a LimitError instead of hanging. A limit that is negative is
// ErrArg of the call that takes the option. Local.
func WithLimits(l Limits) Option { return func(o *options) { o.limits = l } }

// checkLimits refuses limits that are negative.
func (o *options) checkLimits(call string) error {
	if l := o.limits; l.PeerMessages < 0 || l.Messages < 0 || l.Stall < 0 {
		return badArg(call, ErrArg, "WithLimits has PeerMessages %d, Messages %d and Stall %v: none of them is below 0; DefaultLimits has the usual ones",
			l.PeerMessages, l.Messages, l.Stall)
	}
	return nil
}

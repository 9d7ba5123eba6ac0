package pt2pt

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
)

var simKinds = map[uint8]string{wire.Eager: "Eager", wire.EagerFirst: "EagerFirst", wire.EagerMore: "EagerMore",
	wire.EagerSync: "EagerSync", wire.EagerReady: "EagerReady", wire.RTS: "RTS", wire.CTS: "CTS", wire.Data: "Data",
	wire.FIN: "FIN", wire.Cancel: "Cancel", wire.Cancelled: "Cancelled", wire.Flow: "Flow",
	wire.Grant: "Grant", wire.Written: "Written", wire.Dead: "Dead"}

// noteNet writes down what happens in the network.
func (w *simWorld) noteNet(e mem.SimEvent) {
	fail := ""
	if e.Err != nil && e.What != mem.SimAgain {
		fail = ": " + e.Err.Error()
	}
	switch e.What {
	case mem.SimSent, mem.SimAgain:
		if e.Kind == 0 {
			w.note("  %d>%d %v", e.Rank, e.Peer, e.What)
			return
		}
		w.note("  %d>%d %v %s", e.Rank, e.Peer, e.What, describe(e))
		if w.raw {
			w.note("    imm %x hdr %x body %x", e.Imm, e.Hdr, e.Body)
		}
	case mem.SimArrive, mem.SimDeliver:
		w.note("  %d<%d %v %s", e.Rank, e.Peer, e.What, simKinds[e.Kind])
	case mem.SimDeath:
		w.note("  %d is dead", e.Rank)
	default:
		if e.Put {
			fail = " (put)" + fail
		}
		w.note("  %d %v of %d%s", e.Rank, e.What, e.Peer, fail)
		if w.raw {
			w.note("    op %x", uint64(e.Op))
		}
	}
}

// describe says what a packet says.
func describe(e mem.SimEvent) string {
	cid, tag := wire.Match(e.Imm)
	s := simKinds[e.Kind]
	switch e.Kind {
	case wire.Eager, wire.EagerSync, wire.EagerReady:
		return fmt.Sprintf("%s context %d tag %d, %d bytes", s, cid, tag, len(e.Body))
	case wire.EagerFirst:
		return fmt.Sprintf("%s context %d tag %d, %d of %d bytes", s, cid, tag, len(e.Body), wire.First(e.Hdr).Length())
	case wire.EagerMore:
		return fmt.Sprintf("%s %d bytes", s, len(e.Body))
	case wire.RTS:
		return fmt.Sprintf("%s context %d tag %d, %d bytes", s, cid, tag, wire.RTSHeader(e.Hdr).Length())
	case wire.CTS:
		return fmt.Sprintf("%s limit %d", s, wire.CTSHeader(e.Hdr).Limit())
	case wire.Data:
		return fmt.Sprintf("%s at %d, %d bytes", s, wire.NumberHeader(e.Hdr).Number(), len(e.Body))
	case wire.Grant:
		return fmt.Sprintf("%s limit %d", s, wire.GrantHeader(e.Hdr).Limit())
	case wire.FIN, wire.Written:
		return fmt.Sprintf("%s %s", s, [...]string{wire.Received: "received", wire.Lost: "lost", wire.Late: "late"}[wire.FINHeader(e.Hdr).Outcome()])
	case wire.Cancelled:
		return fmt.Sprintf("%s %t", s, wire.FlagHeader(e.Hdr).Yes())
	case wire.Flow:
		return fmt.Sprintf("%s %s", s, [...]string{wire.Open: "open", wire.Announce: "announce", wire.Hold: "hold"}[e.Imm])
	}
	return s
}

// simLog counts what an engine logs: warnings are for what the oracle knows.
type simLog struct {
	late int
	odd  string
}

func (l *simLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *simLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *simLog) WithGroup(string) slog.Handler            { return l }

func (l *simLog) Handle(_ context.Context, r slog.Record) error {
	switch {
	case strings.HasPrefix(r.Message, "a ready send came before"):
		l.late++
	case strings.HasPrefix(r.Message, "a buffered send failed"): // to the dead, or by a fault
	default:
		l.odd = r.Message
	}
	return nil
}

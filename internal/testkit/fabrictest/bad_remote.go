package fabrictest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

func badRemotes(t *testing.T, h Harness) {
	if !h.ChecksRemote {
		t.Skip("the harness says that a Remote may reach the peer's whole memory")
	}
	const size = 256
	all := fabric.LocalWrite | fabric.RemoteRead | fabric.RemoteWrite | fabric.RemoteAtomic
	same := func(m fabric.Remote) fabric.Remote { return m }
	for _, c := range []struct {
		name   string
		access fabric.Access
		only   string // the operation that it is about, or all; a Write is a Put
		// bad changes a good Remote of the operation's length, which ends where
		// the region ends.
		bad func(fabric.Remote) fabric.Remote
	}{
		{"memory that ends 8 bytes too early", all, "", func(m fabric.Remote) fabric.Remote { m.Addr += 8; return m }},
		{"memory wholly past the end", all, "", func(m fabric.Remote) fabric.Remote { m.Addr += m.Len; return m }},
		{"memory far past the end", all, "", func(m fabric.Remote) fabric.Remote { m.Addr += 1 << 40; return m }},
		{"memory before the start", all, "", func(m fabric.Remote) fabric.Remote { m.Addr += m.Len - size - 8; return m }},
		{"an address that wraps", all, "", func(m fabric.Remote) fabric.Remote { m.Addr = ^uint64(7); return m }},
		{"a length that wraps", all, "", func(m fabric.Remote) fabric.Remote { m.Len = ^uint64(7); return m }},
		{"a Remote shorter than the operation", all, "", func(m fabric.Remote) fabric.Remote { m.Len = 4; return m }},
		{"a key never given", all, "", func(m fabric.Remote) fabric.Remote { m.Key ^= 0x5a5a5a5a5a5a5a5a; return m }},
		{"no key", all, "", func(m fabric.Remote) fabric.Remote { m.Key = 0; return m }},
		{"memory that is only written", all &^ fabric.RemoteRead, "Get", same},
		{"memory that is only read", all &^ fabric.RemoteWrite &^ fabric.RemoteAtomic, "Put", same},
		{"memory without atomics", all &^ fabric.RemoteAtomic, "Atomic", same},
		{"deregistered memory", all, "", nil},
	} {
		for _, op := range []string{"Get", "Put", "Atomic", "Write"} {
			if c.only != "" && c.only != op && (c.only != "Put" || op != "Write") {
				continue
			}
			t.Run(fmt.Sprintf("%s of %s", op, c.name), func(t *testing.T) {
				// Each on a job of its own: a transport may give the peer up.
				r := open(t, h, 2)
				a, b := r.nodes[0], r.nodes[1]
				caps := a.d.Caps()
				if op == "Write" && !caps.Write || op == "Get" && !caps.Get || op == "Put" && !caps.Put || op == "Atomic" && !caps.Atomics {
					t.Skip("not offered")
				}
				down := func(fabric.Peer, error) {}
				a.onDown, b.onDown = down, down
				frame, inner := framed(size)
				mine, target := framed(size)
				local := a.region(mine, fabric.LocalWrite)
				local.Bytes = target
				reg, err := b.d.Register(inner, c.access)
				if err != nil {
					t.Fatalf("Register: %v", err)
				}
				m := reg.Remote
				if op == "Atomic" {
					m = part(reg, size-8, 8)
				}
				if c.bad == nil {
					err = b.d.Deregister(reg)
				} else {
					t.Cleanup(func() { b.d.Deregister(reg) })
					m = c.bad(m)
				}
				if err != nil {
					t.Fatalf("Deregister: %v", err)
				}
				result := uint64(77)
				id, err := a.try(func(id fabric.Op) error {
					switch op {
					case "Get":
						return a.eps[1].Get(local, m, id)
					case "Put":
						return a.eps[1].Put(local, m, id)
					case "Write":
						return a.eps[1].Write(m, target)
					}
					return a.eps[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &result}, m, id)
				})
				if err == nil && op != "Write" {
					a.wait("the refused operation to complete", func() bool { return !a.pending[id] })
					err = a.done[id]
				}
				if !errors.Is(err, fabric.ErrBadRemote) {
					t.Errorf("got %v, want ErrBadRemote", err)
				}
				r.settle()
				for _, buf := range [][]byte{frame, mine} {
					if i := slices.IndexFunc(buf, func(x byte) bool { return x != 0xc5 }); i >= 0 {
						t.Errorf("byte %d of %d has changed", i, len(buf))
					}
				}
			})
		}
	}
}

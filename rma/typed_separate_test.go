package rma

import (
	"fmt"
	"os"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

// column is a number in each of four rows of four.
func (k *player) column(put bool, first int) {
	x := Typed{Target: 0, At: k.base + 8*first, Type: numbered(4, 4, 0), Count: 1}
	if b := make([]byte, 32); put {
		x.Src = flat(b)
	} else {
		x.Old = flat(b)
	}
	k.took(k.DoTyped(&x))
}

// sums adds to a column.
func (k *player) sums(first int, kind op.Kind) {
	x := Typed{Code: op.CodeSum, Kind: kind, Target: 0, At: k.base + 8*first, Type: numbered(4, 4, 0), Count: 1, Src: flatInts(make([]byte, 32))}
	k.took(k.DoTyped(&x))
}

// columnPrograms are as checkedPrograms.
var columnPrograms = []struct {
	name string
	play func(k *player)
	want string
}{
	{"Puts to two columns", func(k *player) {
		k.fenced(nil, func() { k.column(true, 0) }, func() { k.column(true, 1) })
	}, ""},
	{"Puts to columns that meet", func(k *player) {
		k.fenced(nil, func() { k.at("a").column(true, 0) }, func() { k.at("b").column(true, 4) })
	}, "a, b"},
	{"Puts to a column and between its elements", func(k *player) {
		k.fenced(nil, func() { k.column(true, 1) }, func() { k.put(0, 0, 8); k.put(0, 48, 24) })
	}, ""},
	{"a Put to a column and one to a part of an element", func(k *player) {
		k.fenced(nil, func() { k.at("a").column(true, 1) }, func() { k.at("b").put(0, 8*9+7, 8) })
	}, "a, b"},
	{"a Get of a column and Puts to the others", func(k *player) {
		k.exposed(nil, func() { k.column(false, 2) }, func() { k.column(true, 0); k.column(true, 1); k.column(true, 3) })
	}, ""},
	{"a Get of a column and a Put to it", func(k *player) {
		k.exposed(nil, func() { k.at("a").column(false, 2) }, func() { k.at("b").column(true, 2) })
	}, "a, b"},
	{"Gets of one column", func(k *player) {
		k.exposed(nil, func() { k.column(false, 2) }, func() { k.column(false, 2) })
	}, ""},
	{"the own column and that of another rank", func(k *player) {
		k.fenced(func() { k.column(true, 0) }, func() { k.column(true, 1) })
	}, ""},
	{"the own column and a Put of another rank to it", func(k *player) {
		k.fenced(func() { k.at("a").column(true, 0) }, func() { k.at("b").put(0, 97, 1) })
	}, "a, b"},
	{"sums of a column", func(k *player) {
		k.fenced(func() { k.sums(0, op.Int64) }, func() { k.sums(0, op.Int64) }, func() { k.sum(0, 32, op.Int64) })
	}, ""},
	{"sums of a column and a Put to it", func(k *player) {
		k.fenced(nil, func() { k.at("a").sums(0, op.Int64) }, func() { k.at("b").column(true, 0) })
	}, "a, b"},
	{"a store to a column", func(k *player) {
		k.fenced(func() { k.store(70) }, nil, func() { k.at("a").column(true, 0) })
	}, "a, fence"},
	{"stores beside a column", func(k *player) {
		k.fenced(func() { k.store(8); k.store(63); k.store(72) }, nil, func() { k.column(true, 0) })
	}, ""},
	{"a column that is flushed", func(k *player) {
		k.lockAll()
		k.turns(nil, func() { k.column(true, 0); k.flush(0) }, func() { k.column(true, 0) })
		k.unlockAll()
	}, ""},
	{"a column that is not flushed", func(k *player) {
		k.lockAll()
		k.turns(nil, func() { k.at("a").column(true, 0); k.flushLocal(0) }, func() { k.at("b").column(true, 0); k.flush(0) })
		k.unlockAll()
	}, "a, b"},
}

// Accesses to elements that lie apart conflict where they meet, and nowhere else, in
// whichever form they are announced.
func TestColumnsConflictWhereTheyMeet(t *testing.T) {
	for name, of := range transports {
		t.Run(name, func(t *testing.T) {
			g, err := newMesh(fmt.Sprintf("columns %d %s ", os.Getpid(), name), 3, 64, of(3), func(a, b int) way { return reached }, nil)
			if err != nil {
				t.Fatal(err)
			}
			id := uint32(16)
			for _, dynamic := range []bool{false, true} {
				for _, pieces := range []bool{false, true} {
					for _, e := range g.engines {
						e.encodings.longest = 1 << 10
						if pieces {
							e.encodings = encodings{}
						}
					}
					for _, p := range columnPrograms {
						t.Run(fmt.Sprintf("%s, dynamic %t, pieces %t", p.name, dynamic, pieces), func(t *testing.T) { playProgram(t, g, id, dynamic, p.play, p.want) })
						id += 16
					}
				}
			}
			if err := g.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

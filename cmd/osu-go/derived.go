package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/weft-mpi/weft/bench"
)

// setDerived takes cont, vect:STRIDE:BLOCK and indx:FILE as OSU does, and struct and
// hand:STRIDE:BLOCK, which are ours.
func setDerived(s *settings, v string) error {
	word, rest, more := strings.Cut(v, ":")
	d := bench.Derived{}
	err := setChoice(word, map[string]func(){
		"cont":   func() { d.Kind = bench.Contiguous },
		"vect":   func() { d.Kind = bench.Vector },
		"indx":   func() { d.Kind = bench.Indexed },
		"struct": func() { d.Kind = bench.Structs },
		"hand":   func() { d.Kind = bench.ByHand },
	})
	if err != nil {
		return err
	}
	word = strings.ToLower(word)
	switch d.Kind {
	case bench.Vector, bench.ByHand:
		stride, block, both := strings.Cut(rest, ":")
		if !both {
			return fmt.Errorf("%s has a stride and the length of a block, in elements: %s:128:64", word, word)
		}
		if err := setInt(&d.Stride, stride, 1, bench.MaxSize); err != nil {
			return fmt.Errorf("stride: %w", err)
		}
		if err := setInt(&d.Block, block, 1, d.Stride); err != nil {
			return fmt.Errorf("length of a block: %w (the stride is %d)", err, d.Stride)
		}
	case bench.Indexed:
		if rest == "" {
			return errors.New("indx has a file, of lines with the displacement and the length of a block: indx:blocks.txt")
		}
		if d.Blocks, err = readBlocks(rest); err != nil {
			return err
		}
	default:
		if more {
			return fmt.Errorf("%s has nothing behind it, what is %q?", word, rest)
		}
	}
	s.o.Derived = d
	return nil
}

// readBlocks reads the lines of a file of OSU's: the displacement of a block and its
// length, in elements, separated by a comma. Lines that begin with # are comments.
func readBlocks(name string) (blocks []bench.Block, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the blocks: %w", err)
	}
	defer f.Close()
	return parseBlocks(name, f)
}

func parseBlocks(name string, r io.Reader) (blocks []bench.Block, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if len(blocks) == bench.MaxBlocks {
			return nil, fmt.Errorf("%s:%d: there are at most %d blocks", name, n, bench.MaxBlocks)
		}
		disp, length, both := strings.Cut(line, ",")
		if !both {
			return nil, fmt.Errorf("%s:%d: %q is not a displacement and a length: 128,64", name, n, clip(line))
		}
		var b bench.Block
		err := setInt(&b.Disp, strings.TrimSpace(disp), 0, bench.MaxSize)
		if err == nil {
			err = setInt(&b.Len, strings.TrimSpace(length), 0, bench.MaxSize)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		blocks = append(blocks, b)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the blocks of %s: %w", name, err)
	}
	return blocks, nil
}

// clip shortens what an error quotes.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

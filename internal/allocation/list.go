package allocation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/weft-mpi/weft/internal/launch"
)

// maxSlots is more than a host has use for: a job has no more ranks.
const maxSlots = launch.MaxRanks

// Parse reads a list of hosts as MPICH and Open MPI take it on a command line: names or
// addresses between commas, each with its slots, as in "a:2,b:2,user@[fd88::1]:4"; one
// slot where none are given.
func Parse(list string) (hosts []launch.Host, err error) {
	for i, word := range strings.Split(list, ",") {
		h, err := host(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("host %d of the list: %w", i+1, err)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// host reads NAME or NAME:SLOTS.
func host(word string) (h launch.Host, err error) {
	name, slots := word, "1"
	switch i, colons := strings.LastIndexByte(word, ':'), strings.Count(word, ":"); {
	case strings.HasSuffix(word, "]"):
	case i > 0 && word[i-1] == ']', colons == 1:
		name, slots = word[:i], word[i+1:]
	case colons > 1:
		return h, fmt.Errorf("%q: is a part of it the number of slots? Write an IPv6 address in brackets, as in [fd88::1]:2", word)
	}
	h.Name = strings.NewReplacer("[", "", "]", "").Replace(name)
	if h.Slots, err = number(slots); err != nil {
		return h, fmt.Errorf("%q: %w", word, err)
	}
	return h, checkName(h.Name)
}

// number reads a number of slots.
func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxSlots {
		return 0, fmt.Errorf("%q slots: write a number from 1 to %d", s, maxSlots)
	}
	return n, nil
}

// checkName refuses what would be an option of ssh, or more than one word.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("a host has no name")
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("%q is no host: it begins like an option", name)
	case strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(",;'\"`$\\()<>|&*?#", r)
	}):
		return fmt.Errorf("%q is no name of a host", name)
	}
	return nil
}

// ReadFile reads a hostfile: a host on each line, with its slots as Open MPI writes them
// ("a slots=2") or as MPICH does ("a:2"). Behind # is a comment. name is that of the
// file, for errors, which have the number of the line.
//
// Of the other words of Open MPI max_slots is read: more ranks than that are not
// started. Words that ask for something Weft does not do are errors.
func ReadFile(r io.Reader, name string) (hosts []launch.Host, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		h, err := line(words)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		hosts = append(hosts, h)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%s: no host in it: write one on each line, as in a:2 or a slots=2", name)
	}
	return hosts, nil
}

// line reads the words of a line.
func line(words []string) (h launch.Host, err error) {
	if h, err = host(words[0]); err != nil {
		return h, err
	}
	given := strings.HasSuffix(words[0], ":"+strconv.Itoa(h.Slots))
	most := maxSlots
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "slots", "cpu", "count": // Open MPI's names for it
			if given {
				return h, fmt.Errorf("host %s has its slots twice: %q", h.Name, word)
			}
			given = true
			h.Slots, err = number(value)
		case "max_slots", "max-slots", "cpu_max", "count_max":
			most, err = number(value)
		case "user":
			if strings.Contains(h.Name, "@") {
				return h, fmt.Errorf("host %s has its user twice: %q", h.Name, word)
			}
			h.Name = value + "@" + h.Name
			err = checkName(h.Name)
		default:
			return h, fmt.Errorf("%q: a line is a host and slots=N; this is neither", word)
		}
		if err != nil {
			return h, fmt.Errorf("%q: %w", word, err)
		}
	}
	h.Slots = min(h.Slots, most)
	return h, nil
}

// Slots is how many ranks the hosts have room for.
func Slots(hosts []launch.Host) (n int) {
	for _, h := range hosts {
		n += h.Slots
	}
	return n
}

package launch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// checkRound exchanges short values and checks them.
func checkRound(ctx context.Context, j *Job, round int) error {
	all, err := j.Exchange(ctx, fmt.Append(nil, j.Rank, "/", round))
	if err != nil {
		return err
	}
	for i, b := range all {
		if want := fmt.Sprint(i, "/", round); string(b) != want {
			return fmt.Errorf("rank %d brought %q, want %q", i, b, want)
		}
	}
	if len(all) != j.Size {
		return fmt.Errorf("%d of %d came", len(all), j.Size)
	}
	return nil
}

func checkAll(t *testing.T, errs []error) {
	t.Helper()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func TestPMIOneRankOfAHostGetsForAll(t *testing.T) {
	for _, c := range []struct {
		name        string
		size, hosts int
		host        func(rank int) int
	}{
		{"one rank", 1, 1, func(int) int { return 0 }},
		{"one host", 5, 1, func(int) int { return 0 }},
		{"a host each", 4, 4, func(rank int) int { return rank }},
		{"in turns", 7, 3, func(rank int) int { return rank % 3 }},
		{"one host in the middle of another", 6, 2, func(rank int) int { return []int{0, 1, 1, 0, 1, 0}[rank] }},
		{"512 ranks in blocks", 512, 8, func(rank int) int { return rank / 64 }},
		{"512 ranks in turns", 512, 8, func(rank int) int { return rank % 8 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rounds = 2
			f := &fakePMI{size: c.size, card: func(rank int) card {
				return card{host: hostID{byte(c.host(rank))}, cores: []byte{1 << (rank % 8)}}
			}}
			checkAll(t, f.join(t, func(j *Job) error {
				var hosts []uint32
				var local []int
				number, cores := map[int]uint32{}, map[int]bool{}
				for r := range c.size {
					h := c.host(r)
					if _, ok := number[h]; !ok {
						number[h] = uint32(len(number))
					}
					hosts = append(hosts, number[h])
					if h == c.host(j.Rank) {
						local = append(local, r)
						cores[r%8] = true
					}
				}
				if !slices.Equal(j.Hosts, hosts) || !slices.Equal(j.LocalRanks, local) || j.Cores != len(cores) {
					return fmt.Errorf("%+v, want the hosts %v, the local ranks %v and %d cores", j, hosts, local, len(cores))
				}
				for round := range rounds {
					if err := checkRound(deadline(t), j, round); err != nil {
						return err
					}
				}
				j.boot.leave(false) // Close has a time limit, which 512 ranks may pass on a slow machine
				return nil
			}))
			for cmd, want := range map[string]int{
				"get":        (1 + rounds) * c.hosts * (c.hosts - 1),
				"put":        (1 + rounds) * c.hosts,
				"barrier_in": (2 + rounds) * c.size,
			} {
				if f.seen[cmd] != want {
					t.Errorf("%d times %s, want %d", f.seen[cmd], cmd, want)
				}
			}
		})
	}
}

func TestPMITwoProcessesOfOneRankAreNamed(t *testing.T) {
	mine, err := newCard()
	if err != nil {
		t.Fatal(err)
	}
	_, errs := late(t, func(_ *fakePMI, place string) { stranger(t, place, appendGreeting(nil, 2, 3, mine)) })
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "say that they are rank 2") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Ranks that count as one host and are in different network namespaces can't
// meet. Those of each namespace have a leader.
func TestPMIRanksOfOneHostInTwoNetworkNamespaces(t *testing.T) {
	needRoot(t)
	f := &fakePMI{size: 3, card: func(int) card { return card{host: hostID{1}, cores: []byte{3}} }}
	f.open()
	errs := make([]error, 3)
	body := func(j *Job) error {
		if fmt.Sprint(j.Hosts, j.LocalRanks, j.Cores) != "[0 0 0] [0 1 2] 2" {
			return fmt.Errorf("%+v", j)
		}
		return errors.Join(checkRound(deadline(t), j, 0), j.Close())
	}
	var ranks sync.WaitGroup
	for rank := range 3 {
		ranks.Go(func() {
			if rank == 1 {
				runtime.LockOSThread() // the thread ends with the goroutine
				if errs[rank] = unix.Unshare(unix.CLONE_NEWNET); errs[rank] != nil {
					return
				}
			}
			errs[rank] = f.rank(t, rank, body)
		})
	}
	ranks.Wait()
	checkAll(t, errs)
	if f.seen["get"] != 2*2 {
		t.Errorf("%d gets, want one for each of two leaders and rounds", f.seen["get"])
	}
}

// Jobs whose key-value spaces have the same name are told apart by the process
// manager's daemon.
func TestPMIJobsOfOneHostDoNotMix(t *testing.T) {
	jobs := []*fakePMI{{size: 3, name: "1.0"}, {size: 3, name: "1.0"}}
	errs := make([][]error, len(jobs))
	ids := make([]sync.Map, len(jobs))
	var ranks sync.WaitGroup
	for k, f := range jobs {
		f.open()
		errs[k] = make([]error, f.size)
		daemon, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { daemon.Close() })
		go func() {
			for {
				conn, err := daemon.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					f.serve(conn)
				}()
			}
		}()
		for rank := range f.size {
			ranks.Go(func() {
				conn, err := net.Dial("tcp", daemon.Addr().String())
				if err != nil {
					errs[k][rank] = err
					return
				}
				defer conn.Close()
				errs[k][rank] = f.joinOver(t, conn, rank, func(j *Job) error {
					ids[k].Store(j.ID, true)
					return errors.Join(checkRound(deadline(t), j, 0), j.Close())
				})
			})
		}
	}
	ranks.Wait()
	seen := map[any]bool{}
	for k, f := range jobs {
		checkAll(t, errs[k])
		n := 0
		ids[k].Range(func(id, _ any) bool { n++; seen[id] = true; return true })
		if n != 1 || f.seen["get"] != 0 {
			t.Errorf("job %d: %d ids, %d gets", k, n, f.seen["get"])
		}
	}
	if len(seen) != len(jobs) {
		t.Errorf("%d ids in %d jobs", len(seen), len(jobs))
	}
}

func TestPMIGroupsThatCannotBeAreNamed(t *testing.T) {
	group := func(leads bool, ranks ...int) string {
		return string(pmiGroup{ranks: ranks, card: card{cores: []byte{1}, leads: leads}}.append(nil))
	}
	for _, c := range []struct {
		name, says string
		values     []string // of the lowest ranks, in their order
	}{
		{"all is well", "", []string{group(true, 0, 2), group(false, 1, 3)}},
		{"a rank in two groups", "rank 2 is in two groups", []string{group(true, 0, 2), group(false, 1, 2, 3)}},
		{"another lowest rank", "not ascending from there", []string{group(true, 1, 2)}},
		{"a rank too many", "below 4", []string{group(true, 0, 4)}},
		{"a rank twice", "not ascending", []string{group(true, 0, 0)}},
		{"more ranks than there are", "group of 5 ranks", []string{group(true, 0, 1, 2, 3, 4)}},
		{"nobody", "group of 0 ranks", []string{group(true)}},
		{"nothing", "not a group", []string{""}},
		{"another release", "run one release", []string{string(card{leads: true}.append(nil))}},
		{"no id", "gives the job its id", []string{group(false, 0, 1, 2, 3)}},
		{"two ids", "gives the job its id", []string{group(true, 0), group(true, 1)}},
		{"no card", "card of", []string{group(true, 0, 1)[:5]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			next := 0
			groups, err := readGroups(4, func(int) ([]byte, error) {
				next++
				return []byte(c.values[next-1]), nil
			})
			switch {
			case c.says == "" && (err != nil || len(groups) != len(c.values)):
				t.Errorf("%v, %v", groups, err)
			case c.says != "" && (!errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

func FuzzPMIGroup(f *testing.F) {
	f.Add(pmiGroup{ranks: []int{0, 3, 4}, card: card{cores: []byte{3}, leads: true}}.append(nil), 0)
	f.Add(pmiGroup{ranks: []int{2, 700}, card: card{cores: []byte{3, 1}}}.append(nil), 2)
	f.Add(binary.AppendUvarint([]byte{groupVersion}, 1<<60), 0)
	f.Fuzz(func(t *testing.T, b []byte, lowest int) {
		const size = 1000
		if lowest < 0 || lowest >= size {
			return
		}
		g, err := parsePMIGroup(b, lowest, size)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Fatal(err)
			}
			return
		}
		if g.ranks[0] != lowest || !slices.IsSorted(g.ranks) || g.ranks[len(g.ranks)-1] >= size {
			t.Fatalf("ranks %v from %d", g.ranks, lowest)
		}
		again, err := parsePMIGroup(g.append(nil), lowest, size)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(g) {
			t.Fatalf("%v comes back as %v, %v", g, again, err)
		}
	})
}

func FuzzPMIParts(f *testing.F) {
	f.Add(appendParts(nil, [][]byte{{1, 2}, {}, {3}}))
	f.Add(appendParts(nil, [][]byte{{1, 2}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		parts, err := parseParts(b, 3)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Fatal(err)
			}
			return
		}
		again, err := parseParts(appendParts(nil, parts), 3)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(parts) {
			t.Fatalf("%v comes back as %v, %v", parts, again, err)
		}
	})
}

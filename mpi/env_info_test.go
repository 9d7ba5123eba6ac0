package mpi_test

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/mpi"
)

func TestInfoKeepsTheOrderOfItsKeys(t *testing.T) {
	i := get(mpi.NewInfo("b", "1", "a", "2", "c", ""))
	ok(i.Set("a", "3"))
	ok(i.Delete("b"))
	ok(i.Set("b", "4"))
	d := i.Dup()
	ok(i.Set("d", "5"))
	if got := d.Keys(); !slices.Equal(got, []string{"a", "c", "b"}) || d.Len() != 3 {
		t.Errorf("the copy has the keys %v", got)
	}
	if v, is := i.Get("a"); v != "3" || !is {
		t.Errorf("a is %q, %t", v, is)
	}
	if v, is := d.Get("d"); v != "" || is {
		t.Errorf("the copy has d: %q", v)
	}
	for key := range i.All() {
		if key != "a" {
			t.Errorf("the first key is %q", key)
		}
		break
	}
	want(t, "Delete of a key that is not there", i.Delete("e"), mpi.ErrInfoNokey)
}

func TestInfoRefusesWhatIsTooLong(t *testing.T) {
	i := get(mpi.NewInfo())
	long, value := strings.Repeat("k", mpi.MaxInfoKey), strings.Repeat("v", mpi.MaxInfoValue)
	ok(i.Set(long, value))
	want(t, "no key", i.Set("", "1"), mpi.ErrInfoKey)
	want(t, "a long key", i.Set(long+"k", "1"), mpi.ErrInfoKey)
	want(t, "a key with a zero", i.Set("a\x00", "1"), mpi.ErrInfoKey)
	want(t, "a long value", i.Set("a", value+"v"), mpi.ErrInfoValue)
	want(t, "a value with a zero", i.Set("a", "\x00"), mpi.ErrInfoValue)
	if i.Len() != 1 {
		t.Errorf("the keys are %v", i.Keys())
	}
	want(t, "a key without a value", second(mpi.NewInfo("a")), mpi.ErrArg)
	want(t, "an empty key", second(mpi.NewInfo("", "a")), mpi.ErrInfoKey)
	var null *mpi.Info
	want(t, "Set of nil", null.Set("a", "1"), mpi.ErrInfo)
	want(t, "Delete of nil", null.Delete("a"), mpi.ErrInfoNokey)
	if d := null.Dup(); null.Len() != 0 || null.Keys() != nil || d.Set("a", "1") != nil || d.Len() != 1 {
		t.Error("nil is not an empty list")
	}
}

func TestInfoIsAnOrderedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, values, order := &mpi.Info{}, map[string]string{}, []string(nil)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			key := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key")
			_, was := values[key]
			if rapid.Bool().Draw(t, "set") {
				values[key] = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "value")
				if !was {
					order = append(order, key)
				}
				if err := i.Set(key, values[key]); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := i.Delete(key); (err == nil) != was {
				t.Fatalf("Delete: %v", err)
			}
			delete(values, key)
			order = slices.DeleteFunc(order, func(k string) bool { return k == key })
		}
		if got := maps.Collect(i.All()); !maps.Equal(got, values) || !slices.Equal(i.Keys(), order) {
			t.Fatalf("it is %v in the order %v, want %v in the order %v", got, i.Keys(), values, order)
		}
	})
}

func TestInfoEnvTellsHowTheProcessWasStarted(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		host, _ := os.Hostname()
		dir, _ := os.Getwd()
		for key, value := range map[string]string{
			"command": os.Args[0], "host": host, "wdir": dir, "arch": runtime.GOARCH, "thread_level": "MPI_THREAD_MULTIPLE", "maxprocs": "2", "soft": "2",
		} {
			if got, is := w.InfoEnv().Get(key); !is || got != value {
				t.Errorf("%s is %q, %t, want %q", key, got, is, value)
			}
		}
	})
	if _, is := mpi.InfoEnv().Get("maxprocs"); is {
		t.Error("the number of ranks is known without a World")
	}
}

func TestACommunicatorKeepsTheHintsItKnows(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			check := func(what string, c *mpi.Comm, want string) {
				t.Helper()
				var got []string
				for key, value := range get(c.Info()).All() {
					got = append(got, strings.TrimPrefix(key, "mpi_assert_")+"="+value)
				}
				if fmt.Sprint(got) != want {
					t.Errorf("%s: the hints are %v, want %s", what, got, want)
				}
			}
			check("at first", c, "[]")
			ok(c.SetInfo(nil))
			ok(c.SetInfo(get(mpi.NewInfo("mpi_assert_no_any_tag", "true", "weather", "fine", "mpi_assert_exact_length", "false"))))
			ok(w.Comm().SetInfo(get(mpi.NewInfo("mpi_assert_allow_overtaking", "true", "mpi_assert_exact_length", "true"))))
			check("set twice", c, "[no_any_tag=true exact_length=true allow_overtaking=true]")
			bad := get(mpi.NewInfo("mpi_assert_no_any_tag", "false", "mpi_assert_no_any_source", "maybe"))
			want(t, "SetInfo", c.SetInfo(bad), mpi.ErrInfoValue)
			ok(get(c.Info()).Set("mpi_assert_no_any_tag", "false"))
			check("after an error", c, "[no_any_tag=true exact_length=true allow_overtaking=true]")
			check("a duplicate", get(c.Dup()), "[]")
			check("a duplicate with hints", get(c.DupWithInfo(get(mpi.NewInfo("mpi_assert_no_any_source", "true", "x", "y")))), "[no_any_source=true]")
			want(t, "DupWithInfo", second(c.DupWithInfo(bad)), mpi.ErrInfoValue)
			ok(c.Barrier())
		})
	})
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestTheConfigurationIsPrintedWithItsOrigins(t *testing.T) {
	var out strings.Builder
	configuration(&out, []mpi.Setting{
		{Variable: "WEFT_FABRIC", Option: "WithFabric", Value: "shm", Origin: mpi.FromEnvironment, What: "the transports"},
		{Variable: "WEFT_SHM_GET_MIN", Value: "16384", Origin: mpi.FromDefault, What: "the threshold", Err: errors.New("one processor")},
		{Variable: "WEFT_TCP_TLS", Value: "2", Origin: mpi.FromEnvironment, What: "encryption", Err: errors.New("neither\n1 nor 0")},
		{Option: "WithWatchdog", Value: "never", Origin: mpi.FromDefault, What: "a report"},
	}, errors.New("refused"))
	const want = `variables: origin, value
  WEFT_FABRIC       environment  shm    the transports
  WEFT_SHM_GET_MIN  default      16384  the threshold
  WEFT_TCP_TLS      environment  2      encryption
  WEFT_SHM_GET_MIN is not measured: one processor
  WEFT_TCP_TLS can't be used: neither
    1 nor 0
  a program would not start here: refused

options in code without a variable (what a program sets is not known here: mpi.Settings)
  mpi.WithWatchdog  default  never  a report
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestThresholdsAndAlgorithmsArePrintedWithTheirReasons(t *testing.T) {
	var out strings.Builder
	protocols(&out, "shm", []mpi.Protocol{
		{From: 0, Way: "eager", What: "at once", Why: "short"},
		{From: 16384, Way: "rendezvous", What: "announced", Why: "measured"},
		{From: 4096, Alloc: true, Way: "rendezvous", What: "mapped", Why: "a copy"},
	}, nil)
	protocols(&out, "tcp", nil, errors.New("no\ninterface"))
	algorithms(&out, []mpi.Algorithm{
		{Call: "Gather", Name: "binomial", When: "blocks of up to 2048 bytes", Why: "log n"},
		{Call: "Gather", Name: "linear", Why: "once"},
		{Call: "Gather", Name: "inter-linear", Between: true, Why: "once"},
		{Call: "Scan", Name: "doubling", Why: "log n"},
	})
	const want = `
messages over shm
  from 0 bytes                  eager       at once (short)
  from 16384 bytes              rendezvous  announced (measured)
  from 4096 bytes of mpi.Alloc  rendezvous  mapped (a copy)

messages over tcp
  not known: no
  interface

collective calls: the first algorithm of a call that applies
  Gather  binomial  blocks of up to 2048 bytes  log n
          linear    else                        once
  Scan    doubling  always                      log n

collective calls between two groups
  Gather  inter-linear  always  once
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// decode reads the JSON that a command prints.
func decode[T any](t *testing.T, code int, args ...string) (v T) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(args, &stdout, &stderr); got != code && code >= 0 || stderr.Len() > 0 {
		t.Errorf("%v: exit code %d, %s", args, got, stderr.String())
	}
	d := json.NewDecoder(&stdout)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

func TestTheJSONOfInfoSaysWhatTheTextSays(t *testing.T) {
	t.Setenv("WEFT_SHM_GET_MIN", "5000")
	t.Setenv("WEFT_TCP_TLS", "2")
	all := decode[jsonInfo](t, exitUsage, "info", "--json")
	var text strings.Builder
	info(&text)
	for _, f := range all.Fabrics {
		if !strings.Contains(text.String(), "  "+f.Name) || f.Usable != (f.Error == "") {
			t.Errorf("%+v", f)
		}
	}
	for _, p := range all.Protocols {
		if !strings.Contains(text.String(), p.What+" ("+p.Why+")") {
			t.Errorf("%+v is not in the text:\n%s", p, text.String())
		}
	}
	if len(all.Fabrics) < 4 || len(all.Protocols) < 4 || len(all.Algorithms) < 20 || all.OneHost == nil || all.SeveralHosts == nil {
		t.Errorf("%+v", all)
	}
	if !strings.Contains(all.ProtocolsErrors["tcp"], "WEFT_TCP_TLS") || len(all.ProtocolsErrors) > 1 {
		t.Errorf("transports that can't be opened: %v", all.ProtocolsErrors)
	}
	only := decode[jsonInfo](t, 0, "info", "-c", "--json")
	if len(only.Fabrics)+len(only.Algorithms) > 0 || !strings.Contains(only.Refused, "WEFT_TCP_TLS") {
		t.Errorf("%+v", only)
	}
	for _, s := range only.Configuration {
		want := map[string]string{"WEFT_SHM_GET_MIN": "5000", "WEFT_TCP_TLS": "2"}[s.Variable]
		if want != "" && (s.Value != want || s.Origin != "environment") || (s.Variable == "WEFT_TCP_TLS") != (s.Error != "") {
			t.Errorf("%+v", s)
		}
	}
}

func TestInfoPrintsThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"info", "--markdown"}, &stdout, &stderr); code != 0 || stdout.String() != string(page) {
		t.Errorf("exit code %d, %s\n%s", code, stderr.String(), stdout.String())
	}
	if code := run([]string{"info", "--markdown", "-c"}, &stdout, &stderr); code != exitUsage {
		t.Errorf("two kinds of output at once: exit code %d", code)
	}
}

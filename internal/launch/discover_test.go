package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi/cause"
)

func fakeEnv(env string) lookup {
	m := map[string]string{}
	for _, kv := range strings.Fields(env) {
		k, v, _ := strings.Cut(kv, "=")
		m[k] = v
	}
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

func TestEnvironmentsThatSpeakOfSeveralRanksAreFound(t *testing.T) {
	for _, c := range []struct{ env, culprit, fix string }{
		{"", "", ""},
		{"PMI_SIZE=4 PMI_RANK=0", "PMI_SIZE", "mpiexec.hydra"},
		{"PMI_RANK=2", "PMI_RANK", "mpiexec.hydra"},
		{"PMI_SIZE=1 PMI_RANK=0", "", ""},
		{"PMI_SIZE=four", "PMI_SIZE", "mpiexec.hydra"},
		{"MPI_LOCALNRANKS=2", "MPI_LOCALNRANKS", "weft run"},
		{"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE", "weft run"},
		{"OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0", "", ""},
		{"PMIX_RANK=1", "PMIX_RANK", "weft run"},
		{"PALS_RANKID=3", "PALS_RANKID", "weft run"},
		{"FLUX_JOB_SIZE=8 FLUX_TASK_RANK=0", "FLUX_JOB_SIZE", "pmi=simple"},
		{"WEFT_SIZE=2 WEFT_RANK=0", "WEFT_SIZE", "weft run"},
		{"SLURM_NTASKS=4 SLURM_PROCID=0", "", ""}, // batch script, old Slurm
		{"SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=0", "SLURM_NTASKS", "srun --mpi=pmi2"},
		{"SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEPID=0", "SLURM_NTASKS", "srun --mpi=pmi2"},
		{"SLURM_NTASKS=4 SLURM_PROCID=3 SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=4 PMIX_RANK=3", "SLURM_STEP_NUM_TASKS", "srun --mpi=pmi2"},
		{"SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=1", "", ""},
		{"SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=4294967291", "", ""}, // batch script
		{"SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=4294967290", "", ""}, // interactive step
	} {
		err := severalRanks(fakeEnv(c.env))
		if c.culprit == "" {
			if err != nil {
				t.Errorf("%q: %v", c.env, err)
			}
			continue
		}
		e, ok := errors.AsType[*cause.EnvError](err)
		if !ok || e.Var != c.culprit || !errors.Is(err, ErrNoBootstrap) || !strings.Contains(err.Error(), c.fix) || !strings.Contains(err.Error(), c.culprit) {
			t.Errorf("%q: %v, want %s and %q", c.env, err, c.culprit, c.fix)
		}
	}
}

func TestDiscoverNeverMakesWorldsOfOneOutOfAJob(t *testing.T) {
	const one = "rank 0 of 1 by none\n"
	for _, c := range []struct{ env, want string }{
		{"", one},
		{"WEFT_BOOT=none PMI_SIZE=4 PMI_RANK=2", one},
		{"WEFT_BOOT=ssh", "WEFT_BOOT"},
		{"PMI_SIZE=4 PMI_RANK=2", "PMI_SIZE"},
		{"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE"},
		{"SLURM_STEP_ID=0 SLURM_NTASKS=2 SLURM_PROCID=0", "SLURM_NTASKS"},
		{"WEFT_SIZE=2 WEFT_RANK=0", "WEFT_SIZE"},
		{"WEFT_SIZE=2 WEFT_RANK=0 WEFT_FD=77", "file descriptor 77 is no socket"},
		{"WEFT_SIZE=2 WEFT_RANK=0 WEFT_FD=1", "WEFT_FD"},
		{"WEFT_SIZE=2 WEFT_RANK=0 WEFT_FD=x", "WEFT_FD"},
		{"WEFT_SIZE=0 WEFT_RANK=0 WEFT_FD=77", "WEFT_SIZE"},
		{"WEFT_SIZE=2 WEFT_FD=77", "WEFT_RANK"},
		{"WEFT_SIZE=2 WEFT_RANK=0 WEFT_FD=77 OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_SIZE"},
		{"PMI_FD=77 PMI_SIZE=2 PMI_RANK=0", "file descriptor 77 is no socket"},
		{"PMI_FD=77 PMI_SIZE=2", "PMI_RANK"},
		{"PMI_PORT=127.0.0.1:1 PMI_ID=0", "PMI_PORT"},
		{"PMI_PORT=127.0.0.1:1", "PMI_ID"},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = roleEnv("discover", strings.Fields(c.env)...)
		b, err := cmd.CombinedOutput()
		out := string(b)
		if err != nil {
			t.Errorf("%q: %v: %s", c.env, err, out)
		}
		if c.want == one && out != one {
			t.Errorf("%q: %s", c.env, out)
		}
		if c.want != one && (!strings.HasPrefix(out, "error:") || !strings.Contains(out, c.want) || !strings.HasSuffix(out, "typed\n")) {
			t.Errorf("%q: %s, want an error about %s", c.env, out, c.want)
		}
	}
}

func TestLauncherHidesOuterLaunchersFromItsRanks(t *testing.T) {
	out, err := launch(t, 2, "greet", func(l *Launch) {
		l.Env = append(l.Env, "PMI_FD=9", "PMI_SIZE=3", "PMI_RANK=1", "OMPI_COMM_WORLD_SIZE=7", "WEFT_BOOT=none", "WEFT_FD=0")
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkGreetings(t, out, 2, LauncherWeft)
}

func TestOfSeveralValuesInTheEnvironmentTheLastCounts(t *testing.T) {
	got := rankEnv([]string{"A=1", "B=2", "WEFT_RANK=9", "A=3", "PMI_FD=4", "C=", "nonsense"})
	if want := "[B=2 A=3 C=]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestTunablesOfTheUserAreKept(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"A=1", "[A=1 GLIBC_TUNABLES=glibc.pthread.rseq=0]"},
		{"GLIBC_TUNABLES=", "[GLIBC_TUNABLES=glibc.pthread.rseq=0]"},
		{"GLIBC_TUNABLES=glibc.malloc.check=1", "[GLIBC_TUNABLES=glibc.malloc.check=1:glibc.pthread.rseq=0]"},
		{"GLIBC_TUNABLES=glibc.pthread.rseq=1", "[GLIBC_TUNABLES=glibc.pthread.rseq=1]"},
	} {
		if got := fmt.Sprint(withoutRseq([]string{c.env})); got != c.want {
			t.Errorf("%s becomes %s, want %s", c.env, got, c.want)
		}
	}
}

func TestWorldOfOneIsAJob(t *testing.T) {
	j, err := worldOfOne()
	if err != nil {
		t.Fatal(err)
	}
	mine := []byte("mine")
	all, err := j.Exchange(t.Context(), mine)
	if err != nil || len(all) != 1 || string(all[0]) != "mine" || &all[0][0] == &mine[0] {
		t.Errorf("%q, %v", all, err)
	}
	if _, err := j.Exchange(t.Context(), make([]byte, MaxExchange+1)); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
	if j.Oversubscribed() || j.Size != 1 || len(j.ID) != 32 {
		t.Errorf("%+v", j)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	_, key := newIdentity()
	j := struct{ Key Key }{key}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprintf("%v %+v %x %d %s", j, j, j.Key, j.Key, j.Key), fmt.Sprintf("%#v", j), string(text)} {
		if !strings.Contains(s, "redacted") || strings.Contains(s, fmt.Sprint(key[0], " ", key[1])) {
			t.Error(s)
		}
	}
}

func TestExchangeEndsWithItsContext(t *testing.T) {
	c, server := pipeToRank(t)
	defer server.Close()
	j := &Job{Size: 2, boot: c}
	ctx, cancel := context.WithCancel(t.Context())
	cause := make(chan error, 1)
	go func() {
		_, err := j.Exchange(ctx, []byte("x"))
		cause <- err
	}()
	if _, _, err := readFrame(server, 2); err != nil { // from here on the rank waits for the reply
		t.Fatal(err)
	}
	cancel()
	if err := <-cause; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := j.Exchange(t.Context(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("exchange after one that failed: %v", err)
	}
}

func TestAnswersThatDoNotFitAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		answer []byte
		want   error
	}{
		"wrong round":      {appendFrame(nil, kindTable, appendTable(nil, 4, [][]byte{nil, nil})), ErrProtocol},
		"wrong kind":       {appendFrame(nil, kindBye, nil), ErrProtocol},
		"text":             {[]byte("HTTP/1.1 200 OK"), ErrProtocol},
		"lost rank beyond": {appendFrame(nil, kindFail, appendFail(nil, &cause.LostError{Rank: 2, Reason: ""})), ErrProtocol},
		"lost rank":        {appendFrame(nil, kindFail, appendFail(nil, &cause.LostError{Rank: 1, Reason: ""})), nil},
		"nothing":          {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := pipeToRank(t)
			go func() {
				readFrame(server, 2)
				server.Write(c.answer)
				server.Close()
			}()
			_, err := (&Job{Size: 2, boot: client}).Exchange(deadline(t), nil)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Error(err)
			}
		})
	}
}

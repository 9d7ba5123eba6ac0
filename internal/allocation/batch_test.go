package allocation

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
)

func TestJobsOfBatchSystems(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("scontrol", "#!/bin/sh\n[ \"$*\" = 'show hostnames n[1-2,7]' ] && printf 'n1\\nn2\\nn7\\n'\n", 0o700)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	pbs := write("pbs", "a\na\nb\n\na\n", 0o600)
	sge := write("sge", "a 4 all.q@a UNDEFINED\nb 2 all.q@b UNDEFINED\n", 0o600)
	bad := write("bad", "a 4\n-x 2\n", 0o600)
	for _, c := range []struct {
		env  string
		want *Batch
		says string
	}{
		{"", nil, ""},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-2,7] SLURM_TASKS_PER_NODE=2(x2),1", &Batch{"Slurm", []launch.Host{{Name: "n1", Slots: 2}, {Name: "n2", Slots: 2}, {Name: "n7", Slots: 1}}}, ""},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-2,7] SLURM_JOB_CPUS_PER_NODE=8(x3) SLURM_STEP_ID=4294967291", &Batch{"Slurm", []launch.Host{{Name: "n1", Slots: 8}, {Name: "n2", Slots: 8}, {Name: "n7", Slots: 8}}}, ""},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-2,7] SLURM_STEP_ID=0", nil, ""},
		{"SLURM_JOB_ID=1", nil, ""},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-2,7] SLURM_TASKS_PER_NODE=2", nil, "3 nodes, and tasks for 1"},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-2,7] SLURM_TASKS_PER_NODE=2(y2)", nil, `"2(y2)"`},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=m1", nil, "scontrol show hostnames: exit status 1"},
		{"PBS_NODEFILE=" + pbs, &Batch{"PBS", []launch.Host{{Name: "a", Slots: 3}, {Name: "b", Slots: 1}}}, ""},
		{"PBS_NODEFILE=/no/such/file", nil, "the hosts of the job of PBS: open /no/such/file"},
		{"PE_HOSTFILE=" + sge, &Batch{"Grid Engine", []launch.Host{{Name: "a", Slots: 4}, {Name: "b", Slots: 2}}}, ""},
		{"PE_HOSTFILE=" + bad, nil, `bad: "-x" is no host`},
		{"LSB_MCPU_HOSTS=a_4_b_2", &Batch{"LSF", []launch.Host{{Name: "a", Slots: 4}, {Name: "b", Slots: 2}}}, ""},
		{"LSB_MCPU_HOSTS=a", nil, "it names no hosts"},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(kv, "=")
			if name == "LSB_MCPU_HOSTS" {
				value = strings.ReplaceAll(value, "_", " ")
			}
			env[name] = value
		}
		got, err := Detect(func(name string) string { return env[name] })
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v, want %+v, %q", c.env, got, err, c.want, c.says)
		}
	}
}

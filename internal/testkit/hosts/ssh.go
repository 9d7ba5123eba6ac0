package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// SSH has an sshd run on each host, which takes a key made for the test, and returns the
// words of an ssh command on the first host that logs in to all of them. The daemons end
// with the kit. Where ssh or sshd is not installed it skips the test, or with WEFT_CI=1
// fails it, as Up does.
func (k *Kit) SSH() []string {
	k.t.Helper()
	sshd := k.tool("sshd", "/usr/sbin/sshd")
	for _, tool := range []string{"ssh", "ssh-keygen"} {
		k.tool(tool, "")
	}
	dir := k.t.TempDir()
	key := filepath.Join(dir, "key")
	for _, name := range []string{key, filepath.Join(dir, "host")} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name).CombinedOutput(); err != nil {
			k.t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			k.t.Fatal(err)
		}
		return path
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // its chroot
		k.t.Fatal(err)
	}
	var known strings.Builder
	public, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, host := range k.Names {
		fmt.Fprintf(&known, "%s %s", host, public)
	}
	config := write("sshd_config", fmt.Sprintf(`HostKey %s/host
AuthorizedKeysFile %s.pub
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
MaxStartups 100
PidFile none
`, dir, key))
	client := write("ssh_config", fmt.Sprintf("IdentityFile %s\nIdentitiesOnly yes\nUserKnownHostsFile %s\nStrictHostKeyChecking yes\n", key, write("known", known.String())))
	for _, host := range k.Names {
		argv := k.Command(host, sshd, "-f", config, "-D", "-E", filepath.Join(dir, host+".log"))
		cmd := exec.Command(argv[0], argv[1:]...)
		if err := cmd.Start(); err != nil {
			k.t.Fatal(err)
		}
		go cmd.Wait() // the kit's end is its end
	}
	// Outside of the kit there is no way to its hosts.
	ssh := k.Command(k.Names[0], "ssh", "-F", client)
	for _, host := range k.Names {
		k.await(append(ssh[:len(ssh):len(ssh)], host, "true"))
	}
	return ssh
}

// patience is many times what an sshd takes to listen.
const patience = 5 * time.Minute

// await runs a command until it succeeds.
func (k *Kit) await(argv []string) {
	k.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			k.t.Fatalf("%q: %v: %s", argv, err, out)
		}
	}
}

// tool returns the path of a tool, which may be in none of the folders of PATH, or skips
// the test.
func (k *Kit) tool(name, path string) string {
	k.t.Helper()
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	if found, err := exec.LookPath(path); path != "" && err == nil {
		return found
	}
	why := name + " is not installed (scripts/setup installs it)"
	if os.Getenv("WEFT_CI") == "1" {
		k.t.Fatalf("%s, and WEFT_CI=1 says that it must be", why)
	}
	k.t.Skip(why)
	return ""
}

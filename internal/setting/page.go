package setting

import (
	"fmt"
	"strings"
)

//go:generate go test -run TestThePageIsThatOfTheCode -update .

// pageTop is the beginning of the page.
const pageTop = `# Configuration

<!-- Made from internal/setting by go generate ./internal/setting: change the registry, not this page. -->

What a user can set in the environment, and what a program sets in code. ` + "`weft run -h`" + ` has the same in short, and ` + "`weft info -c`" + ` prints each value on this machine with its origin: an option, the environment, the default, or a measurement. ` + "`mpi.Settings`" + ` returns this to a program.

- An option in code wins over the variable, and the variable over the default.
- An empty variable is not set.
- ` + "`Init`, `Run`, `NewSession` and `weft run`" + ` refuse a variable whose name begins with ` + "`WEFT_`" + ` and is not on this page, with the nearest name, and a value that can't be, with what is allowed. They do so even if the job does not use the transport that the variable is about.
- Names with ` + "`_TEST_`" + ` in them, such as ` + "`WEFT_TEST_NODES`" + `, are left to tests, and nothing checks them.
- Set a variable alike for all ranks, unless the page says that ranks may differ.
`

// Page is docs/configuration.md.
func Page() string {
	var b strings.Builder
	b.WriteString(pageTop)
	for _, part := range []struct {
		title  string
		reader string // in List(User); "" for the rest
		under  string
	}{
		{"The job", "", ""},
		{"Shared memory", "fabric/shm", ""},
		{"TCP", "fabric/tcp", "[running.md](running.md#connections-over-tcp) has more about connections over TCP.\n"},
		{"InfiniBand and RoCE", "fabric/verbs", "[infiniband.md](infiniband.md) says when to set them.\n"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		if part.under != "" {
			b.WriteString(part.under + "\n")
		}
		b.WriteString("| variable | values | default | read by | |\n|---|---|---|---|---|\n")
		for _, s := range List(User) {
			if s.Name != "" && (s.Reader == part.reader || part.reader == "" && !strings.HasPrefix(s.Reader, "fabric/")) {
				fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s |\n", s.Name, code(s.Values), s.fallback(), s.Reader, s.words())
			}
		}
	}
	b.WriteString("\n## Options in code\n\nOf package `mpi`, for `Init`, `Run` and `NewSession`. Ranks may differ in those without a variable.\n\n| option | default | |\n|---|---|---|\n")
	for _, s := range List(User) {
		if s.Option == "" {
			continue
		}
		what := sentence(s.What)
		if s.Name != "" {
			what = fmt.Sprintf("The same as `%s`, and wins over it.", s.Name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Option, s.fallback(), what)
	}
	for _, part := range []struct {
		kind  Kind
		title string
	}{
		{Launcher, "Set by the launcher\n\n`weft run` sets these for each rank, and a rank removes them as it joins its job, so that programs which it starts do not take themselves for that rank. A user does not set them."},
		{Development, "Of Weft's own tests\n\nPrograms pass over them."},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| variable | read by | |\n|---|---|---|\n", part.title)
		for _, s := range List(part.kind) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, s.Reader, sentence(s.What))
		}
	}
	return b.String()
}

// code makes each of the values code. A bar would end the cell.
func code(values string) string {
	return "`" + strings.ReplaceAll(values, "|", "` or `") + "`"
}

// fallback is the default in a cell of the page.
func (s Setting) fallback() string {
	if s.Literal {
		return code(s.Default)
	}
	return s.Default
}

// words is all that the page says of a variable.
func (s Setting) words() string {
	text := sentence(s.What)
	if s.More != "" {
		text += " " + s.More
	}
	if s.PerRank {
		text += " Ranks may differ."
	}
	if s.Option != "" {
		text += fmt.Sprintf(" In code: `mpi.%s`.", s.Option)
	}
	return text
}

// sentence makes a sentence of what a help says in a line.
func sentence(what string) string {
	return strings.ToUpper(what[:1]) + what[1:] + "."
}

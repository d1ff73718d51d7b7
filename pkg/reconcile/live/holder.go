package live

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
)

// A holder names a run in the Lease: who, where, and which process. On Linux it
// also says enough to tell later, on the same machine, that the process has died,
// so that the same command again need not wait for the Lease to run out.
type holder struct {
	user, host string
	pid        int
	// started is the process' start in clock ticks since boot, machine is the boot's
	// and the PID namespace's identity; both empty where they cannot be had.
	started, machine string
}

// NewHolder names this process.
func NewHolder() string {
	h := holder{user: "somebody", host: "somewhere", pid: os.Getpid(), machine: thisMachine()}
	if u, err := user.Current(); err == nil {
		h.user = u.Username
	}
	if name, err := os.Hostname(); err == nil {
		h.host = name
	}
	h.started = startOf(h.pid)
	return h.String()
}

// String is how a holder is written into a Lease, and read by people.
func (h holder) String() string {
	text := fmt.Sprintf("%s@%s process %d", h.user, h.host, h.pid)
	if h.started != "" && h.machine != "" {
		text += fmt.Sprintf(" (%s %s)", h.started, h.machine)
	}
	return text
}

// diedHere reports whether a holder was a process of this machine that is no more.
// Whatever cannot be told counts as alive.
func diedHere(text string) bool {
	h, ok := parseHolder(text)
	if !ok || h.machine == "" || h.machine != thisMachine() || othersHidden() {
		return false
	}
	return startOf(h.pid) != h.started
}

// othersHidden reports whether /proc may keep other users' processes from us. The
// first process of a machine belongs to root: who sees it sees all.
func othersHidden() bool { return startOf(1) == "" }

func parseHolder(text string) (holder, bool) {
	_, rest, ok := strings.Cut(text, " process ")
	if !ok {
		return holder{}, false
	}
	words := strings.Fields(rest)
	if len(words) < 3 { // a reason may follow
		return holder{}, false
	}
	pid, err := strconv.Atoi(words[0])
	if err != nil {
		return holder{}, false
	}
	return holder{pid: pid, started: strings.TrimPrefix(words[1], "("), machine: strings.TrimSuffix(words[2], ")")}, true
}

// thisMachine identifies the running kernel and the PID namespace: process numbers
// mean the same only within both. Empty where there is no /proc to tell.
func thisMachine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + namespace
}

// startOf is when a process started, in clock ticks since boot; empty when there is
// no such process.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses and may hold anything;
	// the start time is the 20th after it.
	const startField = 19
	_, rest, ok := cutLast(string(stat), ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) <= startField {
		return ""
	}
	const zombie = "Z"
	if fields[0] == zombie {
		return ""
	}
	return fields[startField]
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

package admin

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

var (
	killHeaderPattern = regexp.MustCompile(`^The following (?:(\d+) addresses|address) can be killed:$`)
	killedPattern     = regexp.MustCompile(`^Attempted to kill (\d+) processes$`)
)

const noneKillable = "No addresses can be killed."

// A killed process takes a moment to restart, or to be reported missing.
const (
	restartReads = 5
	restartPause = 3 * time.Second
)

// Kill restarts processes. FoundationDB kills all or none, and only processes it
// can reach, so unreachable ones are omitted and reported.
func (c *FDBCLI) Kill(ctx context.Context, addresses []fdb.Address) error {
	return killReachable(ctx, addresses, c.killable, c.kill)
}

// killReachable kills those of the addresses that are killable, and reports the others.
func killReachable(
	ctx context.Context, addresses []fdb.Address,
	killable func(context.Context) ([]string, error), kill func(ctx context.Context, operation string, present []string) error,
) error {
	desired := hostPorts(addresses)
	operation := "killing " + strings.Join(desired, ", ")
	if len(desired) == 0 {
		return &Error{Kind: KindBadInput, Operation: operation, Detail: "no addresses"}
	}
	reachable, err := killable(ctx)
	if err != nil {
		return err
	}
	present := slices.DeleteFunc(slices.Clone(desired), func(a string) bool { return !slices.Contains(reachable, a) })
	if len(present) == 0 {
		return &Error{Kind: KindRefused, Operation: operation, Detail: "none of them can be reached"}
	}
	if err := kill(ctx, operation, present); err != nil {
		return err
	}
	if missed := without(desired, present); len(missed) > 0 {
		return &Error{Kind: KindPartial, Operation: operation, Detail: "not reached", Targets: missed}
	}
	return nil
}

// KillForUpgrade restarts all processes at these addresses, which then use another
// protocol than this client. It kills none unless all can be reached: processes of two
// protocols cannot work together. Success means that the coordinators use another
// protocol afterwards; the other processes are in the next status, read with the new
// version's client.
func (c *FDBCLI) KillForUpgrade(ctx context.Context, addresses []fdb.Address) error {
	desired := hostPorts(addresses)
	operation := "restarting " + phrase.Count(len(desired), "process") + " in another version"
	if len(desired) == 0 {
		return &Error{Kind: KindBadInput, Operation: operation, Detail: "no addresses"}
	}
	reachable, err := c.killable(ctx)
	if err != nil {
		return err
	}
	if missed := without(desired, reachable); len(missed) > 0 {
		return &Error{Kind: KindRefused, Operation: operation, Detail: "none is restarted, because some cannot be reached", Targets: missed}
	}
	// The second kill is for processes that the first one missed. By then most
	// processes may be of the other version, so that it may fail; the read-back counts.
	kill := command(append([]string{"kill"}, desired...)...)
	return c.change(ctx, mutation{
		operation: operation,
		script:    "kill; " + kill + "; sleep 1; " + kill + "; sleep 5",
		limit:     changeLimit,
		succeeded: func(r Result) bool { return killedIn(r, len(desired)) },
		inForce:   c.protocolChanged,
	})
}

// protocolChanged polls until the coordinators use another protocol than this client.
func (c *FDBCLI) protocolChanged(ctx context.Context) (bool, error) {
	for try := range restartReads {
		if try > 0 {
			if err := c.pause(ctx, restartPause); err != nil {
				return false, err
			}
		}
		_, err := c.status(ctx)
		switch KindOf(err) {
		case KindWrongProtocol:
			return true, nil
		case "", KindTimeout, KindUnavailable: // they are restarting
		default:
			return false, err
		}
	}
	return false, nil
}

// killedIn reports whether n processes were sent the kill.
func killedIn(r Result, n int) bool {
	return slices.ContainsFunc(answerLines(r.Stdout), func(line string) bool {
		parts := killedPattern.FindStringSubmatch(line)
		return parts != nil && parts[1] == strconv.Itoa(n)
	})
}

func hostPorts(addresses []fdb.Address) []string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.HostPort()
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return slices.Contains(some, a) })
}

// Workers returns the addresses, without flags, of the processes that have registered with the
// cluster controller. It takes 3 s where no database was ever configured, and a status 15 s (7.3.79).
func (c *FDBCLI) Workers(ctx context.Context) ([]string, error) { return c.killable(ctx) }

// killable returns the addresses, without flags, that can be killed now.
func (c *FDBCLI) killable(ctx context.Context) ([]string, error) {
	const operation = "listing processes that can be killed"
	r, err := c.read(ctx, operation, "kill", changeLimit)
	if err != nil {
		return nil, err
	}
	addresses, ok := parseKillable(answerLines(r.Stdout))
	if !ok {
		return nil, unparsed(operation, r)
	}
	return addresses, nil
}

// parseKillable parses a list of as many addresses as its header announces.
func parseKillable(lines []string) (addresses []string, ok bool) {
	if slices.Equal(lines, []string{noneKillable}) {
		return nil, true
	}
	if len(lines) == 0 {
		return nil, false
	}
	header := killHeaderPattern.FindStringSubmatch(lines[0])
	if header == nil || cmp.Or(header[1], "1") != strconv.Itoa(len(lines)-1) {
		return nil, false
	}
	for _, line := range lines[1:] {
		a, err := fdb.ParseAddress(line)
		if err != nil {
			return nil, false
		}
		addresses = append(addresses, a.HostPort())
	}
	return addresses, true
}

// kill sends one kill to all present addresses. The list in the same script fills
// fdbcli's table of processes; the sleep gives the requests time to be sent.
func (c *FDBCLI) kill(ctx context.Context, operation string, present []string) error {
	before, err := c.Status(ctx)
	if err != nil {
		return err
	}
	began := c.clock.Now()
	return c.change(ctx, mutation{
		operation: operation,
		script:    "kill; " + command(append([]string{"kill"}, present...)...) + "; sleep 5",
		limit:     changeLimit,
		succeeded: func(r Result) bool { return killedIn(r, len(present)) },
		inForce: func(ctx context.Context) (bool, error) {
			return statusPoller{c.Status, c.clock}.restarted(ctx, uptimes(before), present, began)
		},
	})
}

// statusPoller reads the status repeatedly.
type statusPoller struct {
	status func(context.Context) (*fdb.Status, error)
	clock  clock.Clock
}

// restarted polls until every address has a younger process, or none, than before.
func (p statusPoller) restarted(ctx context.Context, before map[string]time.Duration, addresses []string, began time.Time) (bool, error) {
	for try := range restartReads {
		if try > 0 {
			if err := pauseOn(ctx, p.clock, restartPause); err != nil {
				return false, err
			}
		}
		s, err := p.status(ctx)
		if err != nil {
			return false, err
		}
		elapsed := p.clock.Since(began)
		if s.ListsProcesses() && len(s.Cluster.Processes) > 0 && allYounger(before, uptimes(s), addresses, elapsed) {
			return true, nil
		}
	}
	return false, nil
}

// allYounger reports whether no address still has the process it had before, elapsed
// ago. Processes without a reported uptime have just started.
func allYounger(before, now map[string]time.Duration, addresses []string, elapsed time.Duration) bool {
	return !slices.ContainsFunc(addresses, func(a string) bool {
		uptime, running := now[a]
		return running && uptime >= before[a] && uptime > elapsed
	})
}

// uptimes returns the reported uptimes of processes, by address without flags.
func uptimes(s *fdb.Status) map[string]time.Duration {
	ages := map[string]time.Duration{}
	for _, p := range s.Cluster.Processes {
		uptime, ok := p.Uptime()
		if !ok {
			continue
		}
		ages[p.Address.HostPort()] = uptime
		if public, err := fdb.PublicAddresses(p.CommandLine); err == nil {
			for _, a := range public {
				ages[a.HostPort()] = uptime
			}
		}
	}
	return ages
}

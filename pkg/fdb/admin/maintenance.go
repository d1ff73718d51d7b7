package admin

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

const (
	noMaintenance       = "No ongoing maintenance."
	maintenanceDisabled = "Data distribution has been disabled for all storage server failures in this cluster " +
		"and thus maintenance mode is not active."
)

var maintenancePattern = regexp.MustCompile(`^Maintenance for zone (.+) will continue for (\d+) seconds\.$`)

// Maintenance returns the zone under maintenance, if any.
func (c *FDBCLI) Maintenance(ctx context.Context) (fdb.Maintenance, error) {
	const operation = "reading the maintenance mode"
	r, err := c.read(ctx, operation, "maintenance", readLimit)
	if err != nil {
		return fdb.Maintenance{}, err
	}
	m, ok := parseMaintenance(answerLines(r.Stdout))
	if !ok {
		return fdb.Maintenance{}, unparsed(operation, r)
	}
	return m, nil
}

func parseMaintenance(lines []string) (m fdb.Maintenance, ok bool) {
	if len(lines) != 1 {
		return fdb.Maintenance{}, false
	}
	switch lines[0] {
	case noMaintenance:
		return fdb.Maintenance{}, true
	case maintenanceDisabled:
		return fdb.Maintenance{Disabled: true}, true
	}
	parts := maintenancePattern.FindStringSubmatch(lines[0])
	if parts == nil {
		return fdb.Maintenance{}, false
	}
	return fdb.Maintenance{Zone: parts[1], Remaining: secondsOf(parts[2])}, true
}

// secondsOf parses digits as seconds, up to the longest Duration. FoundationDB accepts any
// time, and one that cannot be parsed could not be ended either.
func secondsOf(digits string) time.Duration {
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		n = math.MaxFloat64
	}
	return durationOf(n)
}

// durationOf returns whole seconds, up to the longest Duration.
func durationOf(seconds float64) time.Duration {
	const longest = math.MaxInt64 / int64(time.Second)
	whole := longest
	if seconds < float64(longest) {
		whole = int64(seconds)
	}
	return time.Duration(whole) * time.Second
}

// MaintenanceOn puts a zone under maintenance for d, at least a second. It fails
// while another zone is: the database would drop that one silently.
func (c *FDBCLI) MaintenanceOn(ctx context.Context, zone string, d time.Duration) error {
	operation := puttingUnderMaintenance(zone)
	if err := mayStartMaintenance(ctx, c, operation, zone, d); err != nil {
		return err
	}
	return c.change(ctx, mutation{
		operation: operation,
		script:    command("maintenance", "on", zone, seconds(d)),
		limit:     readLimit,
		inForce: func(ctx context.Context) (bool, error) {
			m, err := c.Maintenance(ctx)
			return err == nil && m.Zone == zone, err
		},
	})
}

func puttingUnderMaintenance(zone string) string {
	return fmt.Sprintf("putting zone %q under maintenance", zone)
}

const endingMaintenance = "ending maintenance"

// checkMaintenance rejects zones and times that fdbcli would misinterpret.
func checkMaintenance(operation, zone string, d time.Duration) error {
	if zone == "" || strings.ContainsFunc(zone, func(r rune) bool { return r <= ' ' || r > '~' }) || d < time.Second {
		return &Error{Kind: KindBadInput, Operation: operation, Detail: fmt.Sprintf("requires a zone and at least 1s, got %s", d)}
	}
	return nil
}

// mayStartMaintenance returns why a zone may not be put under maintenance now; nil if it may.
func mayStartMaintenance(ctx context.Context, c interface {
	Maintenance(context.Context) (fdb.Maintenance, error)
}, operation, zone string, d time.Duration,
) error {
	if err := checkMaintenance(operation, zone, d); err != nil {
		return err
	}
	now, err := c.Maintenance(ctx)
	if err != nil {
		return err
	}
	return otherZone(operation, now, zone)
}

// otherZone refuses to put a zone under maintenance while another one is: the database
// would drop that one silently.
func otherZone(operation string, now fdb.Maintenance, zone string) error {
	if now.Active() && now.Zone != zone {
		return &Error{Kind: KindRefused, Operation: operation, Detail: fmt.Sprintf("zone %q is under maintenance", now.Zone)}
	}
	return nil
}

// MaintenanceOff ends maintenance of any zone.
func (c *FDBCLI) MaintenanceOff(ctx context.Context) error {
	return c.change(ctx, mutation{
		operation: endingMaintenance,
		script:    "maintenance off",
		limit:     readLimit,
		inForce: func(ctx context.Context) (bool, error) {
			m, err := c.Maintenance(ctx)
			return err == nil && !m.Active() && !m.Disabled, err
		},
	})
}

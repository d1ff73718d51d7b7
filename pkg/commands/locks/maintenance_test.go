package locks_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestMaintenance(t *testing.T) {
	tests := map[string]struct {
		// lines are run one after the other; ZONE0 and ZONE1 are zones with storage.
		lines [][]string
		want  int
		// says is on stderr or stdout of the last line, tells in the output of maintenance
		// status after it.
		says, reports string
	}{
		"a zone is put under it": {
			lines: [][]string{{"on", "sample", "ZONE0", "--for", "10m"}},
			says:  "undo: kubectl fdb maintenance off sample -n fdb --context test", reports: "ZONE0",
		},
		"with one argument that is the zone": {lines: [][]string{{"on", "ZONE0", "-c", "sample"}}, says: "zone ZONE0 is in maintenance mode", reports: "ZONE0"},
		"the time is set again":              {lines: [][]string{{"on", "sample", "ZONE0"}, {"on", "sample", "ZONE0", "--for", "1h"}}, says: "for 1h0m0s", reports: "59m"},
		"never while another zone is": {
			lines: [][]string{{"on", "sample", "ZONE0"}, {"on", "sample", "ZONE1"}}, want: exit.ExitWaiting,
			says: "zone ZONE0 is, and its maintenance would end silently", reports: "ZONE0",
		},
		"with --wait the next zone's begins when it is over": {lines: [][]string{{"on", "sample", "ZONE0", "--for", "40s"}, {"on", "sample", "ZONE1", "--wait"}}, reports: "ZONE1"},
		"it is ended":                                 {lines: [][]string{{"on", "sample", "ZONE0"}, {"off", "sample"}}, says: "no zone is in maintenance mode", reports: "no zone"},
		"scripts may always agree":                    {lines: [][]string{{"on", "sample", "ZONE0", "-y"}, {"off", "sample", "--yes"}}, says: "no zone is in maintenance mode", reports: "no zone"},
		"nothing is ended":                            {lines: [][]string{{"off", "sample"}}, says: "no zone is in maintenance mode", reports: "no zone"},
		"a dry run begins nothing":                    {lines: [][]string{{"on", "sample", "ZONE0", "--dry-run"}}, want: exit.ExitNo, says: "+ maintenance mode   set maintenance mode of zone ZONE0", reports: "no zone"},
		"a zone without processes is a mistake":       {lines: [][]string{{"on", "sample", "nowhere"}}, want: exit.ExitUsage, says: `no storage or log process is in zone "nowhere": must be one of ZONE0`, reports: "no zone"},
		"half a second is no time":                    {lines: [][]string{{"on", "sample", "ZONE0", "--for", "500ms"}}, want: exit.ExitUsage, says: "--for must be whole seconds", reports: "no zone"},
		"maintenance has a longest duration":          {lines: [][]string{{"on", "sample", "ZONE0", "--for", "999999h"}}, want: exit.ExitUsage, says: "up to 24h", reports: "no zone"},
		"without a terminal the cluster needs a name": {lines: [][]string{{"on", "ZONE0"}}, want: exit.ExitUsage, says: "cluster name is required", reports: "no zone"},
		"an unknown word":                             {lines: [][]string{{"onn"}}, want: exit.ExitUsage, says: "did you mean on?", reports: "no zone"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Settled(t)
			zones := strings.NewReplacer("ZONE0", g.ZoneOf(0), "ZONE1", g.ZoneOf(1))
			code := 0
			for _, line := range tc.lines {
				args := []string{"maintenance"}
				for _, word := range line {
					args = append(args, zones.Replace(word))
				}
				code = g.Run(args...)
			}
			output := g.Out.String() + g.Err.String()
			if code != tc.want || !strings.Contains(output, zones.Replace(tc.says)) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, zones.Replace(tc.says), output)
			}
			if code := g.Run("maintenance", "status", "sample"); code != exit.ExitDone || !strings.Contains(g.Out.String(), zones.Replace(tc.reports)) {
				t.Errorf("status: exit code %d, want %q: %s%s", code, zones.Replace(tc.reports), &g.Out, &g.Err)
			}
		})
	}
}

// The zone's processes are noted where the spec has a pass end the maintenance; a pass
// does so once they have restarted, and off forgets them.
func TestMaintenanceOnWritesEntriesIfPassesResetMaintenance(t *testing.T) {
	g := commandstest.Settled(t)
	yes := true
	g.Cluster.Resource.Spec.AutomationOptions.MaintenanceModeOptions.ResetMaintenanceMode = &yes
	if code := g.Run("maintenance", "on", "sample", g.ZoneOf(0)); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	if code := g.Run("maintenance", "status", "sample"); code != exit.ExitDone || !strings.Contains(g.Out.String(), g.Storage()[0]+"(") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("maintenance", "off", "sample"); code != exit.ExitDone || len(g.Cluster.Shared.Maintenance) != 0 {
		t.Errorf("exit code %d, left are %v: %s", code, g.Cluster.Shared.Maintenance, &g.Err)
	}
}

func TestMaintenanceStatusNamePrintsNothingWithoutAZone(t *testing.T) {
	g := commandstest.Up(t)
	if code := g.Run("maintenance", "status", "sample", "-o", "name"); code != exit.ExitDone || g.Out.Len() > 0 {
		t.Errorf("exit code %d: %q", code, &g.Out)
	}
}

// A database without a quorum answers, without zones and processes.
func TestProcessesAndMaintenanceZoneAreUnknownWithoutAQuorum(t *testing.T) {
	g := commandstest.Up(t)
	g.Lose(2, false)
	for command, want := range map[string]string{"maintenance status": "the maintenance zone", "get processes": "the processes"} {
		if code := g.Run(append(strings.Fields(command), "sample")...); code != exit.ExitUnreachable || g.Out.Len() > 0 || !strings.Contains(g.Err.String(), "cannot determine "+want+": the database is unavailable") {
			t.Errorf("%s: exit code %d: %s%s", command, code, &g.Out, &g.Err)
		}
	}
}

func TestMaintenanceCommandsFailIfTheDatabaseDoesNotAnswer(t *testing.T) {
	g := commandstest.Up(t)
	g.Connect = func() (session.Session, error) {
		return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
	}
	for _, args := range [][]string{{"status", "sample"}, {"on", "sample", "nowhere"}} {
		if code := g.Run(append([]string{"maintenance"}, args...)...); code != exit.ExitUnreachable || g.Out.Len() > 0 {
			t.Errorf("%v: exit code %d: %s%s", args, code, &g.Out, &g.Err)
		}
	}
}

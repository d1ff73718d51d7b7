package fdbsim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// excluding excludes targets of a kind.
func excluding(kind model.ExclusionKind, texts ...string) func(*client.Client) error {
	return func(c *client.Client) error {
		targets, err := client.Targets(texts)
		if err == nil {
			_, err = c.Exclude(client.Exclusion{Targets: targets, Kind: kind})
		}
		return err
	}
}

// configuring configures words.
func configuring(words ...string) func(*client.Client) error {
	return func(c *client.Client) error {
		r, err := client.ParseConfigure(words)
		if err == nil {
			_, err = c.Configure(r)
		}
		return err
	}
}

// A forecast calls what users type: both take as long, draw the same random IDs, and leave the same database.
func TestClientsDoWhatTheirLinesInFdbcliDo(t *testing.T) {
	all := []string{"127.0.2.1", "127.0.2.2", "127.0.2.3", "127.0.2.4", "127.0.2.5"}
	for name, tc := range map[string]struct {
		before string
		faults Faults
		line   string
		do     func(*client.Client) error
	}{
		"an exclusion": {line: "exclude no_wait 127.0.2.1 locality_instance_id:storage-2", do: excluding(model.KindExcluded, "127.0.2.1", "locality_instance_id:storage-2")},
		"an exclusion of all storage is refused": {
			line: "exclude no_wait 127.0.2.1 127.0.2.2 127.0.2.3 127.0.2.4 127.0.2.5", do: excluding(model.KindExcluded, all...),
		},
		"a forced exclusion": {
			line: "exclude FORCE no_wait failed 127.0.2.1", do: func(c *client.Client) error {
				targets, err := client.Targets(all[:1])
				if err == nil {
					_, err = c.Exclude(client.Exclusion{Targets: targets, Kind: model.KindFailed, Force: true})
				}
				return err
			},
		},
		"an exclusion that is cut off": {
			faults: Faults{DropCommands: 1}, line: "exclude no_wait 127.0.2.1", do: excluding(model.KindExcluded, "127.0.2.1"),
		},
		"an exclusion that takes effect and is cut off": {
			faults: Faults{DropCommands: 1, ApplyUnknown: true}, line: "exclude no_wait 127.0.2.1", do: excluding(model.KindExcluded, "127.0.2.1"),
		},
		"an inclusion": {
			before: "exclude no_wait 127.0.2.1", line: "include 127.0.2.1", do: func(c *client.Client) error {
				targets, err := client.Targets(all[:1])
				if err == nil {
					err = c.Include(client.Inclusion{Targets: targets})
				}
				return err
			},
		},
		"a configuration":                {line: "configure triple logs=4", do: configuring("triple", "logs=4")},
		"a configuration, slowly":        {faults: Faults{Delay: 6 * time.Second}, line: "configure logs=4", do: configuring("logs=4")},
		"another engine is refused":      {line: "configure memory", do: configuring("memory")},
		"a second database is refused":   {line: "configure new single ssd", do: configuring("new", "single", "ssd")},
		"coordinators":                   {line: "coordinators 127.0.2.14:4501 127.0.2.1:4501 127.0.2.2:4501", do: coordinating("127.0.2.14:4501", "127.0.2.1:4501", "127.0.2.2:4501")},
		"coordinators that are the same": {line: "coordinators 127.0.2.13:4501 127.0.2.12:4501 127.0.2.11:4501", do: coordinating("127.0.2.13:4501", "127.0.2.12:4501", "127.0.2.11:4501")},
		"coordinators that do not exist": {line: "coordinators 127.0.9.9:4501", do: coordinating("127.0.9.9:4501")},
		"a kill":                         {line: "kill; kill 127.0.2.11:4501; sleep 5", do: killing("127.0.2.11:4501")},
		"a kill of an unknown process":   {line: "kill; kill 127.0.9.9:4501; sleep 5", do: killing("127.0.9.9:4501")},
		"maintenance":                    {line: "maintenance on zone-1 600", do: func(c *client.Client) error { return c.StartMaintenance("zone-1", 600) }},
		"the end of maintenance": {
			before: "maintenance on zone-1 600", line: "maintenance off", do: (*client.Client).EndMaintenance,
		},
	} {
		t.Run(name, func(t *testing.T) {
			typed, called := configured(t), configured(t)
			for _, c := range []*cluster{typed, called} {
				if tc.before != "" {
					c.exec(tc.before)
				}
				c.Databases()[0].SetFaults(tc.faults)
			}
			exit := typed.exec(tc.line).exit
			err := called.Run(t.Context(), client.Program{
				Version: "7.3.79", Files: called.files, ClusterFile: liveFile, Timeout: 40 * time.Second,
			}, func(c *client.Client) error {
				if err := c.Begin(client.Changes); err != nil {
					return err
				}
				return tc.do(c)
			})
			if (exit == 0) != (err == nil) {
				t.Errorf("fdbcli ends with %d, the client with %v", exit, err)
			}
			if diff := cmp.Diff(typed.outcome(), called.outcome()); diff != "" {
				t.Errorf("typed (-), called (+):\n%s", diff)
			}
		})
	}
}

func coordinating(texts ...string) func(*client.Client) error {
	return func(c *client.Client) error {
		var to client.Coordination
		for _, text := range texts {
			a, err := fdb.ParseAddress(text)
			if err != nil {
				return err
			}
			to.Addresses = append(to.Addresses, a)
		}
		_, err := c.ChangeCoordinators(to)
		return err
	}
}

func killing(addresses ...string) func(*client.Client) error {
	return func(c *client.Client) error {
		known, err := c.Workers()
		if err == nil {
			err = c.Begin(client.Changes)
		}
		if err == nil {
			err = c.End(known, addresses, client.Kill())
		}
		if err == nil {
			err = c.Begin(client.Reads)
		}
		if err == nil {
			err = c.Sleep(5 * time.Second)
		}
		return err
	}
}

// outcome is what a cluster is like, and what its next random ID is.
func (c *cluster) outcome() []string {
	now, status := c.Now().String(), c.exec("status json").stdout
	c.Advance(time.Minute)
	c.inner.Lock()
	defer c.inner.Unlock()
	keys := ""
	for _, p := range c.inner.Databases[0].Keys.LatestRange("\xff", "\xff\xff") {
		keys += p.Key + "=" + string(p.Value) + "\n"
	}
	return []string{now, status, keys, c.inner.Hex(32)}
}

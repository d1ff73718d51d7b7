package datadir

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Finding is what the files of pods show about a database.
type Finding string

// The findings.
const (
	// Blank proves that no database was ever created: every coordinator stores the name of the database
	// without a state, and no pod has files of storage or log servers.
	Blank Finding = "Blank"
	// NotYet shows neither a database nor that none exists: the state of a coordinator was not read yet.
	NotYet Finding = "NotYet"
	// Elsewhere is where a coordinator is no process of the pods, so that its files are unknown.
	Elsewhere Finding = "Elsewhere"
	// Exists is where a pod has the state of the database, or files of storage or log servers.
	Exists Finding = "Exists"
)

// Verdict is a finding with its evidence.
type Verdict struct {
	Finding  Finding
	Evidence string
	// Coordinator is the one that is elsewhere; zero for other findings.
	Coordinator fdb.Address
}

// Find returns what the files of pods, by name, show about the database at a connection string. They must have
// been read for its generation.
func Find(c fdb.ConnectionString, pods map[string]*Files) Verdict {
	names := slices.Sorted(maps.Keys(pods))
	for _, name := range names {
		if evidence := ofDatabase(pods[name]); evidence != "" {
			return Verdict{Finding: Exists, Evidence: fmt.Sprintf("pod %s has %s", name, evidence)}
		}
	}
	found := Verdict{Finding: Blank, Evidence: fmt.Sprintf("none of %s stores the state of a database, and none of %s has files of storage or log servers",
		phrase.Count(len(c.Coordinators), "coordinator"), phrase.Count(len(pods), "pod"))}
	if len(c.Coordinators) == 0 {
		found = Verdict{Finding: NotYet, Evidence: "there are no coordinators"}
	}
	for _, a := range c.Coordinators {
		switch v := findAt(a, names, pods); {
		case v.Finding == Elsewhere:
			return v
		case v.Finding != Blank:
			found = v
		}
	}
	return found
}

// ofDatabase returns which file of a pod only exists with a database; empty for none.
func ofDatabase(f *Files) string {
	for _, file := range f.Coordination {
		if file.Current {
			return "the state of the database in " + file.Path
		}
	}
	if len(f.Data) > 0 {
		return f.Data[0]
	}
	return ""
}

// findAt returns what a coordinator stores: Blank, NotYet or Elsewhere.
func findAt(a fdb.Address, names []string, pods map[string]*Files) Verdict {
	for _, name := range names {
		for _, server := range pods[name].Servers {
			if !server.listensAt(a) {
				continue
			}
			if slices.ContainsFunc(pods[name].Coordination, func(f File) bool { return f.Blank && path.Dir(f.Path) == path.Clean(server.Directory) }) {
				return Verdict{Finding: Blank}
			}
			return Verdict{Finding: NotYet, Evidence: fmt.Sprintf("coordinator %s in pod %s has not stored the name of the database yet", a.Coordinator(), name)}
		}
	}
	return Verdict{Finding: Elsewhere, Evidence: fmt.Sprintf("no process in the %s that could be read is coordinator %s", phrase.Count(len(names), "pod"), a.Coordinator()), Coordinator: a}
}

// listensAt reports whether the process is the coordinator with that address, by its IP address or its DNS name.
func (s Server) listensAt(a fdb.Address) bool {
	for _, text := range s.Addresses {
		public, err := fdb.ParseAddress(text)
		if err == nil && public.Port == a.Port && public.TLS == a.TLS && (public.Host == a.Host || cmp.Or(s.Localities[fdb.LocalityDNSName], public.Host) == a.Host) {
			return true
		}
	}
	return false
}

// Processes returns the processes of pods, by name, that match, in the order of the names, with what their command
// lines show: address, class and localities.
func Processes(pods map[string]*Files, match func(fdb.Address) bool) []fdb.Process {
	var all []fdb.Process
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		for _, server := range pods[name].Servers {
			i := slices.IndexFunc(server.Addresses, func(text string) bool {
				a, err := fdb.ParseAddress(text)
				return err == nil && match(a)
			})
			if i < 0 {
				continue
			}
			address, _ := fdb.ParseAddress(server.Addresses[i]) // it was parsed above
			all = append(all, fdb.Process{Address: address, ClassType: server.Class, Locality: server.Localities})
		}
	}
	return all
}

// Package datadir is what the data directories of a pod show, and the processes that use them: the cluster
// file, coordination files, and how fdbserver was started. A shell script reads it, without a connection to the
// database.
package datadir

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Finding is what the files of pods show about a database.
type Finding string

// The findings.
const (
	// Blank proves that no database was ever created: every coordinator stores the description and ID of the
	// connection string and no state of a database, and no pod has files of storage or log servers.
	Blank Finding = "Blank"
	// NotYet shows neither a database nor that none exists: the state of a coordinator was not read yet.
	NotYet Finding = "NotYet"
	// Elsewhere is where a coordinator is none of the processes that run in the pods, so that its files are
	// unknown.
	Elsewhere Finding = "Elsewhere"
	// Exists is where a coordinator stores the state of a database.
	Exists Finding = "Exists"
	// Unreadable is where the tools of a container cannot read what a coordinator stores, now and later.
	Unreadable Finding = "Unreadable"
	// Remains is where all coordinators are without a state, and pods have files of storage or log servers: the
	// coordinators lost their files, or a creation was interrupted.
	Remains Finding = "Remains"
)

// Verdict is a finding with its evidence.
type Verdict struct {
	Finding  Finding
	Evidence string
	// Coordinator is the one that is elsewhere; zero for other findings.
	Coordinator fdb.Address
	// Written is when a coordination file was written last, if pods have files and no coordinator a state; zero
	// for other findings.
	Written time.Time
}

// Find returns what the files of pods, by name, show about the database at a connection string. They must have
// been read for its generation.
func Find(c fdb.ConnectionString, pods map[string]*Files) Verdict {
	names := slices.Sorted(maps.Keys(pods))
	if v, found := stateIn(c, names, pods); found {
		return v
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
	for _, name := range names {
		if len(pods[name].Data) > 0 && found.Finding == Blank {
			return Verdict{
				Finding: Remains, Written: lastWritten(pods),
				Evidence: fmt.Sprintf("pod %s has %s, and no coordinator stores the state of a database", name, pods[name].Data[0]),
			}
		}
	}
	return found
}

// lastWritten returns when a coordination file of the pods was written last.
func lastWritten(pods map[string]*Files) (last time.Time) {
	for _, files := range pods {
		for _, file := range files.Coordination {
			if file.Modified.After(last) {
				last = file.Modified
			}
		}
	}
	return last
}

// stateIn returns which pod has the state of the database, or cannot be judged.
func stateIn(c fdb.ConnectionString, names []string, pods map[string]*Files) (v Verdict, found bool) {
	for _, name := range names {
		if g := pods[name].Generation; g != "" && g != c.Description+":"+c.ID && v.Finding != Unreadable {
			v, found = Verdict{Finding: NotYet, Evidence: fmt.Sprintf("the cluster file of pod %s is of another connection string", name)}, true
		}
		for _, file := range pods[name].Coordination {
			switch {
			case file.Unknown:
				v, found = Verdict{Finding: Unreadable, Evidence: fmt.Sprintf("%s in pod %s could not be read: its container has no od, or its grep has no option -b", file.Path, name)}, true
			case file.Current:
				return Verdict{Finding: Exists, Evidence: fmt.Sprintf("pod %s has the state of the database in %s", name, file.Path)}, true
			}
		}
	}
	return v, found
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
			return Verdict{Finding: NotYet, Evidence: fmt.Sprintf("coordinator %s in pod %s has not stored the ID of the connection string yet", a.Coordinator(), name)}
		}
	}
	return Verdict{Finding: Elsewhere, Evidence: fmt.Sprintf("coordinator %s is none of the processes in %s", a.Coordinator(), phrase.Count(len(names), "pod")), Coordinator: a}
}

// Has reports whether a process with that address, as host:port, runs in one of the pods.
func Has(pods map[string]*Files, address string) bool {
	for _, files := range pods {
		for _, server := range files.Servers {
			if slices.ContainsFunc(server.Addresses, func(text string) bool { a, err := fdb.ParseAddress(text); return err == nil && a.HostPort() == address }) {
				return true
			}
		}
	}
	return false
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

// Files are what is in a pod.
type Files struct {
	// ClusterFile is the connection string of the processes; empty if the file does not exist.
	ClusterFile string `json:"clusterFile"`
	// Generation is its description and ID, which coordinators keep their state under.
	Generation string `json:"generation"`
	// Coordination are the files with coordination state in the data directories.
	Coordination []File `json:"coordination"`
	// Data are the paths of files that only exist with a database: those of storage and log servers, and its ID.
	Data []string `json:"data,omitempty"`
	// Processes are the process IDs of the fdbserver processes.
	Processes []int `json:"processes"`
	// Servers are where those processes listen, and their data directories.
	Servers []Server `json:"servers"`
}

// File is a file in a volume.
type File struct {
	Path     string    `json:"path"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	// Current is whether it has a key of the generation of the recorded connection string. The file of
	// a former coordinator only has that name in the connection string to which it refers clients.
	Current bool `json:"current"`
	// Blank is whether it has that key, and no record of the key has the state of a database. Current is
	// false then.
	Blank bool `json:"blank,omitempty"`
	// Unknown is whether it has that key, and its records could not be read. It counts as current then.
	Unknown bool `json:"unknown,omitempty"`
}

// Server is an fdbserver process.
type Server struct {
	PID int `json:"pid"`
	// Addresses are the public addresses, as connection strings have them.
	Addresses []string `json:"addresses"`
	// Directory is the data directory.
	Directory string `json:"directory"`
	// Class is the process class; empty for the default one.
	Class string `json:"class,omitempty"`
	// Localities are the localities of the command line.
	Localities map[string]string `json:"localities,omitempty"`
}

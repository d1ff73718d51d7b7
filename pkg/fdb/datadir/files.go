// Package datadir is what the data directories of a pod show, and the processes that use them: the cluster
// file, coordination files, and how fdbserver was started. A shell script reads it, without a connection to the
// database.
package datadir

import "time"

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

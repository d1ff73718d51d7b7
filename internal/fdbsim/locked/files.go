package locked

import "github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"

// Files are what the data directory of a process shows.
type Files struct {
	// Coordination is whether it has a coordination file, State whether that has the state of a database.
	Coordination, State bool
	// Data are the names of files of storage and log servers.
	Data []string
}

// Files returns what the data directory of the process shows.
func (h *ServerHandle) Files() (found Files) {
	h.w.Lock()
	defer h.w.Unlock()
	disk := h.slot.Process.Disk
	found.Coordination, found.State = disk.Coordination()
	found.Data = h.w.DataOn(disk)
	return found
}

// Registered returns the processes that registered with the database at a connection string, as host:port.
func (w *Simulation) Registered(c fdb.ConnectionString) (addresses []string) {
	w.inner.Lock()
	defer w.inner.Unlock()
	for _, db := range w.inner.Databases {
		if db.Connection.SameCoordinators(c.Coordinators) {
			addresses = append(addresses, db.WorkerAddresses()...)
		}
	}
	return addresses
}

package session

// Connection opens API servers, clusters and databases as the flags select them.
type Connection struct{ *Env }

// Prompt asks the user, or the observer of a run, for approval.
type Prompt struct{ *Env }

// Lookup reads what commands show beside the snapshot of a pass.
type Lookup struct{ *Env }

// Waiting waits, and shows for what.
type Waiting struct{ *Env }

// Connection returns what opens API servers, clusters and databases.
func (e *Env) Connection() Connection { return Connection{e} }

// Prompt returns what asks for approval.
func (e *Env) Prompt() Prompt { return Prompt{e} }

// Lookup returns what reads beside the snapshot of a pass.
func (e *Env) Lookup() Lookup { return Lookup{e} }

// Waiting returns what waits.
func (e *Env) Waiting() Waiting { return Waiting{e} }

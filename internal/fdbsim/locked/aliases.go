package locked

import (
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/serverargs"
)

// Parts of [Simulation].
type (
	// Options are the fixed properties of [Simulation].
	Options = model.Options
	// Faults are the ways in which a database can be made difficult.
	Faults = model.Faults
	// Server is an fdbserver to start.
	Server = model.Server
)

// ShardBytes is how large the shards of loaded data are.
const ShardBytes = model.ShardBytes

// RecordedPace is the pace of FoundationDB 7.3.79 on a small machine.
func RecordedPace() model.Pace { return model.RecordedPace() }

// ParseServerArgs reads the argument vector of an fdbserver, argv[0] first.
func ParseServerArgs(argv []string) (serverargs.Args, error) { return serverargs.Parse(argv) }

package fdb

// Redundancy modes that can be configured.
const (
	RedundancySingle        = "single"
	RedundancyDouble        = "double"
	RedundancyTriple        = "triple"
	RedundancyThreeDataHall = "three_data_hall"
)

// coordinatorsOfManyFailureDomains is how many coordinators survive the loss of a
// data center or data hall together with one more zone.
const coordinatorsOfManyFailureDomains = 9

// FaultTolerance returns how many fault domains may fail at once in this mode
// without loss of data. An empty mode means double; an unknown one tolerates
// nothing.
func FaultTolerance(mode string) int {
	domains, known := MinimumFaultDomains(mode)
	if !known {
		return 0
	}
	return domains - 1
}

// MinimumFaultDomains returns how many fault domains hold a replica of each piece of data.
// An empty mode means double. It is unknown for modes that cannot be configured, such as
// three_data_hall_fallback.
func MinimumFaultDomains(mode string) (n int, known bool) {
	switch mode {
	case RedundancySingle:
		return 1, true
	case RedundancyDouble, "":
		return 2, true
	case RedundancyTriple, RedundancyThreeDataHall:
		return 3, true
	default:
		return 0, false
	}
}

// Replicas returns how many replicas of all data a configuration keeps: the reported
// number, otherwise that of its mode. It is unknown without either, and for a mode that
// cannot be configured.
func (c Configuration) Replicas() (n int, known bool) {
	switch {
	case c.StorageReplicas > 0:
		return c.StorageReplicas, true
	case c.RedundancyMode != "":
		return MinimumFaultDomains(c.RedundancyMode)
	default:
		return 0, false
	}
}

// DesiredCoordinators returns how many coordinators a database should have.
func DesiredCoordinators(mode string, usableRegions int) int {
	if usableRegions > 1 || mode == RedundancyThreeDataHall {
		return coordinatorsOfManyFailureDomains
	}
	return 2*FaultTolerance(mode) + 1
}

package fdb

// Redundancy modes that a cluster may ask for.
const (
	RedundancySingle        = "single"
	RedundancyDouble        = "double"
	RedundancyTriple        = "triple"
	RedundancyThreeDataHall = "three_data_hall"
)

// coordinatorsOfManyFailureDomains is how many coordinators survive the loss of a
// data center or data hall together with one more zone.
const coordinatorsOfManyFailureDomains = 9

// FaultTolerance is how many fault domains may fail at once in this mode without
// loss of data. An empty mode means double; an unknown one tolerates nothing.
func FaultTolerance(mode string) int {
	domains, known := MinimumFaultDomains(mode)
	if !known {
		return 0
	}
	return domains - 1
}

// MinimumFaultDomains is how many fault domains hold a copy of each piece of data. An empty
// mode means double. Of one that a cluster cannot ask for, such as three_data_hall_fallback,
// it is not known.
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

// Replicas is how many copies of all data a configuration keeps: what it says itself, else
// what its mode means. It is not known of a mode that a cluster cannot ask for, nor without
// either.
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

// DesiredCoordinators is how many coordinators a database should have.
func DesiredCoordinators(mode string, usableRegions int) int {
	if usableRegions > 1 || mode == RedundancyThreeDataHall {
		return coordinatorsOfManyFailureDomains
	}
	return 2*FaultTolerance(mode) + 1
}

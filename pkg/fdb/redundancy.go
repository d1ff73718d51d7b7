package fdb

// Redundancy modes that a cluster may ask for.
const (
	RedundancySingle        = "single"
	RedundancyDouble        = "double"
	RedundancyTriple        = "triple"
	RedundancyThreeDataHall = "three_data_hall"
)

// coordinatorsOfManyFailureDomains is how many coordinators survive the loss of a
// data centre or data hall together with one more zone.
const coordinatorsOfManyFailureDomains = 9

// FaultTolerance is how many fault domains may fail at once in this mode without
// loss of data. An empty mode means double; an unknown one tolerates nothing.
func FaultTolerance(mode string) int { return MinimumFaultDomains(mode) - 1 }

// MinimumFaultDomains is how many fault domains hold a copy of each piece of data.
func MinimumFaultDomains(mode string) int {
	switch mode {
	case RedundancyDouble, "":
		return 2
	case RedundancyTriple, RedundancyThreeDataHall:
		return 3
	default:
		return 1
	}
}

// DesiredCoordinators is how many coordinators a database should have.
func DesiredCoordinators(mode string, usableRegions int) int {
	if usableRegions > 1 || mode == RedundancyThreeDataHall {
		return coordinatorsOfManyFailureDomains
	}
	return MinimumFaultDomains(mode) + FaultTolerance(mode)
}

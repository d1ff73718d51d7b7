package fdb

// Locality keys of a process.
const (
	// LocalityInstanceID is the process group's ID.
	LocalityInstanceID = "instance_id"
	// LocalityProcessID is "<process group ID>-<n>"; only set when a pod can run
	// several processes.
	LocalityProcessID = "process_id"
	// LocalityZoneID is the fault domain that replicas are spread over.
	LocalityZoneID = "zoneid"
	// LocalityMachineID is the machine.
	LocalityMachineID = "machineid"
	// LocalityDCID is the data center.
	LocalityDCID = "dcid"
	// LocalityDataHall is the data hall, for three_data_hall.
	LocalityDataHall = "data_hall"
	// LocalityDNSName is the name that a cluster file uses for the process.
	LocalityDNSName = "dns_name"
	// LocalityFDBProcessID is FoundationDB's own random ID, kept in the data directory.
	LocalityFDBProcessID = "processid"
)

// LocalityExclusion returns the exclude target for every process whose locality
// key has this value, running or not.
func LocalityExclusion(key, value string) string { return "locality_" + key + ":" + value }

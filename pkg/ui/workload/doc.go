// Package workload prints the documents about the load of a database.
package workload

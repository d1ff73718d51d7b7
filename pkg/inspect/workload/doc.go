// Package workload makes documents about the load of a database out of its status documents: rates,
// latencies, queues, lags, the use of every process, and what makes the database slow, with the
// figure, the threshold and the source of the threshold. It is pure, and a figure that the database
// does not report stays unknown.
package workload

// Package activity computes what a database of the model does at a moment: rates, latencies, queues,
// lags and the use of every process. It derives them from what tools and clients do, where the data
// is, which roles a process has, and what is moved.
package activity

/*
 * A client library for the model of FoundationDB: it has the interface of libfdb_c and
 * sends what it is asked to the model, which package clientlib serves on the Unix socket
 * of FDBSIM_SOCKET, else on the one next to the cluster file. Tests of the native transport
 * link it.
 *
 * A call waits for its reply, so every future is ready when it is returned. What the
 * plugin does not use fails with "unsupported operation" instead of being imitated.
 */
#define FDB_API_VERSION 730
#include <foundationdb/fdb_c.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	OPERATION_FAILED = 1000,
	CONNECTION_FAILED = 1026,
	TRANSACTION_CANCELLED = 1025,
	NO_CLUSTER_FILE = 1515,
	UNSUPPORTED = 2108,
	API_VERSION_ALREADY_SET = 2201,
	API_VERSION_NOT_SUPPORTED = 2203,
	MOST_REPLY_BYTES = 64 << 20,
	MOST_DIGITS = 10,
	HEADER_VERSION = 730,
	OLDEST_VERSION = 700,
};

/* A field of a request or a reply. */
struct field {
	const uint8_t *bytes;
	size_t length;
};

struct FDB_future {
	fdb_error_t error;
	uint8_t *memory; /* of the fields */
	struct field *fields; /* the error code, then the results */
	int count;
	FDBKeyValue *pairs;
};

struct FDB_database {
	char *path;
};

struct FDB_transaction {
	pthread_mutex_t talking;
	int socket;
	atomic_int cancelled;
	int64_t committed;
};

struct FDB_tenant {
	FDBDatabase *database;
};

/* ---- the library and its network thread ---- */

static pthread_mutex_t network = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t network_ended = PTHREAD_COND_INITIALIZER;
static int network_stopped;
static int selected_version;

fdb_error_t fdb_select_api_version_impl(int runtime_version, int header_version)
{
	if (runtime_version < OLDEST_VERSION || runtime_version > header_version || header_version > HEADER_VERSION)
		return API_VERSION_NOT_SUPPORTED;
	if (selected_version != 0 && selected_version != runtime_version)
		return API_VERSION_ALREADY_SET;
	selected_version = runtime_version;
	return 0;
}

int fdb_get_max_api_version(void) { return HEADER_VERSION; }

/* The version of the model, its source, and its protocol. */
const char *fdb_get_client_version(void) { return "7.3.79,0000000000000000000000000000000000000000,fdb00b073000000"; }

const char *fdb_get_error(fdb_error_t code)
{
	switch (code) {
	case 0: return "Success";
	case OPERATION_FAILED: return "Operation failed";
	case 1007: return "Transaction is too old to perform reads or be committed";
	case 1020: return "Transaction not committed due to conflict with another transaction";
	case 1021: return "Transaction may or may not have committed";
	case TRANSACTION_CANCELLED: return "Operation aborted because the transaction was cancelled";
	case CONNECTION_FAILED: return "Network connection failed";
	case 1031: return "Operation aborted because the transaction timed out";
	case 1038: return "Database is locked";
	case NO_CLUSTER_FILE: return "No cluster file found";
	case 2004: return "Key outside legal range";
	case UNSUPPORTED: return "Operation is not supported";
	case 2114: return "Special Key space is not allowed to write by default";
	case 2117: return "Api call through special keys failed";
	default: return "An error of the simulated FoundationDB";
	}
}

fdb_error_t fdb_network_set_option(FDBNetworkOption option, const uint8_t *value, int value_length)
{
	(void)option, (void)value, (void)value_length;
	return 0; /* network options tune what the model does not have */
}

fdb_error_t fdb_setup_network(void) { return 0; }

fdb_error_t fdb_run_network(void)
{
	pthread_mutex_lock(&network);
	while (!network_stopped)
		pthread_cond_wait(&network_ended, &network);
	pthread_mutex_unlock(&network);
	return 0;
}

fdb_error_t fdb_stop_network(void)
{
	pthread_mutex_lock(&network);
	network_stopped = 1;
	pthread_cond_broadcast(&network_ended);
	pthread_mutex_unlock(&network);
	return 0;
}

/* ---- the protocol: netstrings of netstrings, see package clientlib ---- */

static void *grab(size_t size)
{
	void *memory = calloc(1, size ? size : 1);
	if (memory == NULL) {
		fputs("libfdb_c of the model: out of memory\n", stderr);
		abort();
	}
	return memory;
}

static struct field bytes_of(const uint8_t *bytes, int length) { return (struct field){ bytes, (size_t)length }; }
static struct field text_of(const char *text) { return (struct field){ (const uint8_t *)text, strlen(text) }; }

static int write_all(int socket, const uint8_t *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = send(socket, bytes, length, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

static int read_all(int socket, uint8_t *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = recv(socket, bytes, length, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

/* add_netstring appends a netstring and returns the end. */
static uint8_t *add_netstring(uint8_t *at, struct field f)
{
	at += sprintf((char *)at, "%zu:", f.length);
	if (f.length > 0)
		memcpy(at, f.bytes, f.length);
	at[f.length] = ',';
	return at + f.length + 1;
}

static int send_request(int socket, const struct field *fields, int count)
{
	size_t most = 0;
	for (int i = 0; i < count; i++)
		most += MOST_DIGITS + 2 + fields[i].length;
	uint8_t *inner = grab(most + 1), *outer = grab(most + MOST_DIGITS + 3), *end = inner;
	for (int i = 0; i < count; i++)
		end = add_netstring(end, fields[i]);
	end = add_netstring(outer, (struct field){ inner, (size_t)(end - inner) });
	int failed = write_all(socket, outer, (size_t)(end - outer));
	free(inner);
	free(outer);
	return failed;
}

/* length_at reads the length of a netstring, and returns how many bytes it has with its
 * colon; 0 if there is none. */
static size_t length_at(const uint8_t *bytes, size_t length, size_t *out)
{
	size_t at = 0;
	*out = 0;
	while (at < length && at < MOST_DIGITS && bytes[at] >= '0' && bytes[at] <= '9')
		*out = *out * 10 + (size_t)(bytes[at++] - '0');
	return at > 0 && at < length && bytes[at] == ':' ? at + 1 : 0;
}

static FDBFuture *failed_future(fdb_error_t error)
{
	FDBFuture *f = grab(sizeof *f);
	f->error = error;
	return f;
}

/* read_reply reads the content of a reply; NULL if the connection was lost. */
static uint8_t *read_reply(int socket, size_t *out_length)
{
	uint8_t digits[MOST_DIGITS + 1];
	size_t n = 0;
	do {
		if (n == sizeof digits || read_all(socket, digits + n, 1) != 0)
			return NULL;
	} while (digits[n++] != ':');
	if (length_at(digits, n, out_length) != n || *out_length > MOST_REPLY_BYTES)
		return NULL;
	uint8_t *content = grab(*out_length + 1);
	if (read_all(socket, content, *out_length + 1) == 0 && content[*out_length] == ',')
		return content;
	free(content);
	return NULL;
}

/* receive_reply returns a future with the error and the results of a reply. */
static FDBFuture *receive_reply(int socket)
{
	size_t length;
	uint8_t *content = read_reply(socket, &length);
	if (content == NULL)
		return failed_future(CONNECTION_FAILED);
	FDBFuture *f = failed_future(0);
	f->memory = content;
	f->fields = grab((length / 3 + 1) * sizeof *f->fields); /* "0:," is the shortest */
	for (size_t at = 0, n, header; at < length; at += header + n + 1) {
		header = length_at(content + at, length - at, &n);
		if (header == 0 || n >= length - at - header) {
			f->error = OPERATION_FAILED;
			return f;
		}
		content[at + header + n] = '\0'; /* instead of the comma, for numbers */
		f->fields[f->count++] = (struct field){ content + at + header, n };
	}
	f->error = f->count > 0 ? atoi((const char *)f->fields[0].bytes) : OPERATION_FAILED;
	return f;
}

/* connect_to opens the model's socket for a cluster file; -1 for none. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *named = getenv("FDBSIM_SOCKET");
	int n = named != NULL ? snprintf(address.sun_path, sizeof address.sun_path, "%s", named)
	                      : snprintf(address.sun_path, sizeof address.sun_path, "%s.sock", path);
	if (n < 0 || (size_t)n >= sizeof address.sun_path)
		return -1;
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return -1;
	if (connect(s, (struct sockaddr *)&address, sizeof address) != 0) {
		close(s);
		return -1;
	}
	return s;
}

/* call sends one request of a transaction and waits for its reply. */
static FDBFuture *call(FDBTransaction *t, const struct field *fields, int count)
{
	FDBFuture *f;
	pthread_mutex_lock(&t->talking);
	if (t->cancelled)
		f = failed_future(TRANSACTION_CANCELLED);
	else if (send_request(t->socket, fields, count) != 0)
		f = failed_future(CONNECTION_FAILED);
	else
		f = receive_reply(t->socket);
	if (t->cancelled)
		f->error = TRANSACTION_CANCELLED;
	pthread_mutex_unlock(&t->talking);
	return f;
}

/* ask is call for requests without a result. */
static fdb_error_t ask(FDBTransaction *t, const struct field *fields, int count)
{
	FDBFuture *f = call(t, fields, count);
	fdb_error_t error = f->error;
	fdb_future_destroy(f);
	return error;
}

/* ---- futures ---- */

fdb_error_t fdb_future_set_callback(FDBFuture *f, FDBCallback callback, void *parameter)
{
	callback(f, parameter);
	return 0;
}

fdb_bool_t fdb_future_is_ready(FDBFuture *f)
{
	(void)f;
	return 1;
}

void fdb_future_cancel(FDBFuture *f) { (void)f; }

void fdb_future_release_memory(FDBFuture *f)
{
	free(f->pairs);
	free(f->fields);
	free(f->memory);
	f->pairs = NULL;
	f->fields = NULL;
	f->memory = NULL;
	f->count = 0;
}

void fdb_future_destroy(FDBFuture *f)
{
	if (f == NULL)
		return;
	fdb_future_release_memory(f);
	free(f);
}

fdb_error_t fdb_future_get_error(FDBFuture *f) { return f->error; }

fdb_error_t fdb_future_get_int64(FDBFuture *f, int64_t *out)
{
	if (f->error != 0)
		return f->error;
	if (f->count != 2)
		return OPERATION_FAILED;
	*out = strtoll((const char *)f->fields[1].bytes, NULL, 10);
	return 0;
}

fdb_error_t fdb_future_get_key(FDBFuture *f, const uint8_t **out_key, int *out_length)
{
	(void)out_key, (void)out_length;
	return f->error != 0 ? f->error : UNSUPPORTED;
}

fdb_error_t fdb_future_get_value(FDBFuture *f, fdb_bool_t *out_present, const uint8_t **out_value, int *out_length)
{
	if (f->error != 0)
		return f->error;
	*out_present = f->count == 2;
	if (*out_present) {
		*out_value = f->fields[1].bytes;
		*out_length = (int)f->fields[1].length;
	}
	return 0;
}

fdb_error_t fdb_future_get_keyvalue_array(FDBFuture *f, const FDBKeyValue **out, int *out_count, fdb_bool_t *out_more)
{
	if (f->error != 0)
		return f->error;
	if (f->pairs == NULL) {
		f->pairs = grab((size_t)(f->count / 2) * sizeof *f->pairs);
		for (int i = 0; 2 * i + 2 < f->count; i++) {
			struct field *row = &f->fields[2 * i + 1];
			f->pairs[i] = (FDBKeyValue){ row[0].bytes, (int)row[0].length, row[1].bytes, (int)row[1].length };
		}
	}
	*out = f->pairs;
	*out_count = (f->count - 1) / 2;
	*out_more = 0;
	return 0;
}

fdb_error_t fdb_future_get_key_array(FDBFuture *f, const FDBKey **out, int *out_count)
{
	(void)out, (void)out_count;
	return f->error != 0 ? f->error : UNSUPPORTED;
}

fdb_error_t fdb_future_get_string_array(FDBFuture *f, const char ***out, int *out_count)
{
	(void)out, (void)out_count;
	return f->error != 0 ? f->error : UNSUPPORTED;
}

/* ---- databases and tenants ---- */

fdb_error_t fdb_create_database(const char *cluster_file_path, FDBDatabase **out)
{
	if (cluster_file_path == NULL || access(cluster_file_path, R_OK) != 0)
		return NO_CLUSTER_FILE;
	char *path = realpath(cluster_file_path, NULL); /* the model may run in another directory */
	if (path == NULL)
		return NO_CLUSTER_FILE;
	FDBDatabase *d = grab(sizeof *d);
	d->path = path;
	*out = d;
	return 0;
}

fdb_error_t fdb_create_database_from_connection_string(const char *connection_string, FDBDatabase **out)
{
	(void)connection_string, (void)out;
	return UNSUPPORTED;
}

void fdb_database_destroy(FDBDatabase *d)
{
	free(d->path);
	free(d);
}

fdb_error_t fdb_database_set_option(FDBDatabase *d, FDBDatabaseOption option, const uint8_t *value, int value_length)
{
	(void)d, (void)option, (void)value, (void)value_length;
	return UNSUPPORTED;
}

fdb_error_t fdb_database_create_transaction(FDBDatabase *d, FDBTransaction **out)
{
	int s = connect_to(d->path);
	if (s < 0)
		return CONNECTION_FAILED;
	FDBTransaction *t = grab(sizeof *t);
	pthread_mutex_init(&t->talking, NULL);
	t->socket = s;
	t->committed = -1;
	struct field request[] = { text_of("begin"), text_of(d->path) };
	fdb_error_t error = ask(t, request, 2);
	if (error != 0) {
		fdb_transaction_destroy(t);
		return error;
	}
	*out = t;
	return 0;
}

fdb_error_t fdb_database_open_tenant(FDBDatabase *d, const uint8_t *name, int name_length, FDBTenant **out)
{
	(void)d, (void)name, (void)name_length, (void)out;
	return UNSUPPORTED;
}

FDBFuture *fdb_database_reboot_worker(FDBDatabase *d, const uint8_t *address, int address_length, fdb_bool_t check, int seconds)
{
	if (check || seconds > 0)
		return failed_future(UNSUPPORTED);
	FDBTransaction *t;
	fdb_error_t error = fdb_database_create_transaction(d, &t);
	if (error != 0)
		return failed_future(error);
	struct field request[] = { text_of("reboot"), bytes_of(address, address_length) };
	FDBFuture *f = call(t, request, 2);
	fdb_transaction_destroy(t);
	return f;
}

FDBFuture *fdb_database_get_client_status(FDBDatabase *d)
{
	(void)d;
	return failed_future(UNSUPPORTED);
}

fdb_error_t fdb_tenant_create_transaction(FDBTenant *t, FDBTransaction **out)
{
	(void)t, (void)out;
	return UNSUPPORTED;
}

void fdb_tenant_destroy(FDBTenant *t) { (void)t; }

/* ---- transactions ---- */

void fdb_transaction_destroy(FDBTransaction *t)
{
	close(t->socket);
	pthread_mutex_destroy(&t->talking);
	free(t);
}

/* A cancellation ends the reply that another thread waits for. */
void fdb_transaction_cancel(FDBTransaction *t)
{
	t->cancelled = 1;
	shutdown(t->socket, SHUT_RDWR);
}

void fdb_transaction_reset(FDBTransaction *t)
{
	struct field request = text_of("reset");
	(void)ask(t, &request, 1);
}

fdb_error_t fdb_transaction_set_option(FDBTransaction *t, FDBTransactionOption option, const uint8_t *value, int value_length)
{
	char code[16], number[32] = "";
	snprintf(code, sizeof code, "%d", option);
	if (value_length == sizeof(int64_t)) {
		int64_t n;
		memcpy(&n, value, sizeof n);
		snprintf(number, sizeof number, "%lld", (long long)n);
	} else if (value_length != 0) {
		return UNSUPPORTED;
	}
	struct field request[] = { text_of("option"), text_of(code), text_of(number) };
	return ask(t, request, 3);
}

void fdb_transaction_set_read_version(FDBTransaction *t, int64_t version) { (void)t, (void)version; }

FDBFuture *fdb_transaction_get_read_version(FDBTransaction *t)
{
	(void)t;
	return failed_future(UNSUPPORTED);
}

FDBFuture *fdb_transaction_get(FDBTransaction *t, const uint8_t *key, int key_length, fdb_bool_t snapshot)
{
	(void)snapshot;
	struct field request[] = { text_of("get"), bytes_of(key, key_length) };
	return call(t, request, 2);
}

FDBFuture *fdb_transaction_get_key(FDBTransaction *t, const uint8_t *key, int key_length, fdb_bool_t or_equal, int offset,
				   fdb_bool_t snapshot)
{
	(void)t, (void)key, (void)key_length, (void)or_equal, (void)offset, (void)snapshot;
	return failed_future(UNSUPPORTED);
}

FDBFuture *fdb_transaction_get_addresses_for_key(FDBTransaction *t, const uint8_t *key, int key_length)
{
	(void)t, (void)key, (void)key_length;
	return failed_future(UNSUPPORTED);
}

/* first_key returns the key that a selector of a range begins or ends with. */
static uint8_t *first_key(const uint8_t *key, int length, fdb_bool_t or_equal, struct field *out)
{
	uint8_t *copy = grab((size_t)length + 1);
	if (length > 0)
		memcpy(copy, key, (size_t)length);
	*out = bytes_of(copy, or_equal ? length + 1 : length); /* the first key after K is K with a zero byte */
	return copy;
}

FDBFuture *fdb_transaction_get_range(FDBTransaction *t, const uint8_t *begin_key, int begin_length, fdb_bool_t begin_or_equal,
				     int begin_offset, const uint8_t *end_key, int end_length, fdb_bool_t end_or_equal,
				     int end_offset, int limit, int target_bytes, FDBStreamingMode mode, int iteration,
				     fdb_bool_t snapshot, fdb_bool_t reverse)
{
	(void)target_bytes, (void)mode, (void)iteration, (void)snapshot;
	if (begin_offset != 1 || end_offset != 1 || reverse)
		return failed_future(UNSUPPORTED);
	char most[16];
	snprintf(most, sizeof most, "%d", limit);
	struct field request[4] = { [0] = text_of("range"), [3] = text_of(most) };
	uint8_t *begin = first_key(begin_key, begin_length, begin_or_equal, &request[1]);
	uint8_t *end = first_key(end_key, end_length, end_or_equal, &request[2]);
	FDBFuture *f = call(t, request, 4);
	free(begin);
	free(end);
	return f;
}

FDBFuture *fdb_transaction_get_estimated_range_size_bytes(FDBTransaction *t, const uint8_t *begin_key, int begin_length,
							  const uint8_t *end_key, int end_length)
{
	(void)t, (void)begin_key, (void)begin_length, (void)end_key, (void)end_length;
	return failed_future(UNSUPPORTED);
}

FDBFuture *fdb_transaction_get_range_split_points(FDBTransaction *t, const uint8_t *begin_key, int begin_length,
						  const uint8_t *end_key, int end_length, int64_t chunk_size)
{
	(void)t, (void)begin_key, (void)begin_length, (void)end_key, (void)end_length, (void)chunk_size;
	return failed_future(UNSUPPORTED);
}

/* Writes have no error of their own: the model reports it at the commit. */

void fdb_transaction_set(FDBTransaction *t, const uint8_t *key, int key_length, const uint8_t *value, int value_length)
{
	struct field request[] = { text_of("set"), bytes_of(key, key_length), bytes_of(value, value_length) };
	(void)ask(t, request, 3);
}

void fdb_transaction_clear(FDBTransaction *t, const uint8_t *key, int key_length)
{
	struct field request[] = { text_of("clear"), bytes_of(key, key_length) };
	(void)ask(t, request, 2);
}

void fdb_transaction_clear_range(FDBTransaction *t, const uint8_t *begin_key, int begin_length, const uint8_t *end_key,
				 int end_length)
{
	struct field request[] = { text_of("clearrange"), bytes_of(begin_key, begin_length), bytes_of(end_key, end_length) };
	(void)ask(t, request, 3);
}

void fdb_transaction_atomic_op(FDBTransaction *t, const uint8_t *key, int key_length, const uint8_t *parameter,
			       int parameter_length, FDBMutationType type)
{
	(void)key, (void)key_length, (void)parameter, (void)parameter_length, (void)type;
	t->cancelled = 1; /* the commit must not succeed without it */
}

fdb_error_t fdb_transaction_add_conflict_range(FDBTransaction *t, const uint8_t *begin_key, int begin_length,
					       const uint8_t *end_key, int end_length, FDBConflictRangeType type)
{
	(void)t, (void)begin_key, (void)begin_length, (void)end_key, (void)end_length, (void)type;
	return UNSUPPORTED;
}

FDBFuture *fdb_transaction_watch(FDBTransaction *t, const uint8_t *key, int key_length)
{
	(void)t, (void)key, (void)key_length;
	return failed_future(UNSUPPORTED);
}

FDBFuture *fdb_transaction_commit(FDBTransaction *t)
{
	struct field request = text_of("commit");
	FDBFuture *f = call(t, &request, 1);
	if (f->error == 0)
		f->error = fdb_future_get_int64(f, &t->committed);
	return f;
}

FDBFuture *fdb_transaction_on_error(FDBTransaction *t, fdb_error_t code)
{
	(void)t;
	return failed_future(code);
}

FDBFuture *fdb_transaction_get_approximate_size(FDBTransaction *t)
{
	(void)t;
	return failed_future(UNSUPPORTED);
}

FDBFuture *fdb_transaction_get_versionstamp(FDBTransaction *t)
{
	(void)t;
	return failed_future(UNSUPPORTED);
}

fdb_error_t fdb_transaction_get_committed_version(FDBTransaction *t, int64_t *out)
{
	*out = t->committed;
	return 0;
}

/*
 * The part of FoundationDB's C interface, version 730, that its Go bindings call. It
 * declares what fdb_c.c implements, so that the native transport compiles and runs
 * where FoundationDB is not installed. Releases are built with the header of
 * FoundationDB's own client package.
 */
#ifndef FDBSIM_FDB_C_H
#define FDBSIM_FDB_C_H

#include <stdint.h>

#if !defined(FDB_API_VERSION)
#error "FDB_API_VERSION must be defined before this header is included"
#elif FDB_API_VERSION > 730
#error "this header has the interface of API version 730"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int fdb_error_t;
typedef int fdb_bool_t;

typedef struct FDB_future FDBFuture;
typedef struct FDB_database FDBDatabase;
typedef struct FDB_tenant FDBTenant;
typedef struct FDB_transaction FDBTransaction;

/* Options, modes and types are numbers; the bindings have their own list of them. */
typedef int FDBNetworkOption;
typedef int FDBDatabaseOption;
typedef int FDBTransactionOption;
typedef int FDBStreamingMode;
typedef int FDBMutationType;
typedef int FDBConflictRangeType;

/* Arrays of these are packed to four bytes. */
#pragma pack(push, 4)
typedef struct key {
	const uint8_t *key;
	int key_length;
} FDBKey;
typedef struct keyvalue {
	const uint8_t *key;
	int key_length;
	const uint8_t *value;
	int value_length;
} FDBKeyValue;
#pragma pack(pop)

typedef void (*FDBCallback)(FDBFuture *future, void *parameter);

/* The library and its network thread. */
fdb_error_t fdb_select_api_version_impl(int runtime_version, int header_version);
int fdb_get_max_api_version(void);
const char *fdb_get_client_version(void);
const char *fdb_get_error(fdb_error_t code);
fdb_error_t fdb_network_set_option(FDBNetworkOption option, const uint8_t *value, int value_length);
fdb_error_t fdb_setup_network(void);
fdb_error_t fdb_run_network(void);
fdb_error_t fdb_stop_network(void);

/* Futures. */
fdb_error_t fdb_future_set_callback(FDBFuture *f, FDBCallback callback, void *parameter);
fdb_bool_t fdb_future_is_ready(FDBFuture *f);
void fdb_future_cancel(FDBFuture *f);
void fdb_future_release_memory(FDBFuture *f);
void fdb_future_destroy(FDBFuture *f);
fdb_error_t fdb_future_get_error(FDBFuture *f);
fdb_error_t fdb_future_get_int64(FDBFuture *f, int64_t *out);
fdb_error_t fdb_future_get_key(FDBFuture *f, const uint8_t **out_key, int *out_length);
fdb_error_t fdb_future_get_value(FDBFuture *f, fdb_bool_t *out_present, const uint8_t **out_value, int *out_length);
fdb_error_t fdb_future_get_keyvalue_array(FDBFuture *f, const FDBKeyValue **out, int *out_count, fdb_bool_t *out_more);
fdb_error_t fdb_future_get_key_array(FDBFuture *f, const FDBKey **out, int *out_count);
fdb_error_t fdb_future_get_string_array(FDBFuture *f, const char ***out, int *out_count);

/* Databases and tenants. */
fdb_error_t fdb_create_database(const char *cluster_file_path, FDBDatabase **out);
fdb_error_t fdb_create_database_from_connection_string(const char *connection_string, FDBDatabase **out);
void fdb_database_destroy(FDBDatabase *d);
fdb_error_t fdb_database_set_option(FDBDatabase *d, FDBDatabaseOption option, const uint8_t *value, int value_length);
fdb_error_t fdb_database_create_transaction(FDBDatabase *d, FDBTransaction **out);
fdb_error_t fdb_database_open_tenant(FDBDatabase *d, const uint8_t *name, int name_length, FDBTenant **out);
FDBFuture *fdb_database_reboot_worker(FDBDatabase *d, const uint8_t *address, int address_length, fdb_bool_t check, int seconds);
FDBFuture *fdb_database_get_client_status(FDBDatabase *d);
fdb_error_t fdb_tenant_create_transaction(FDBTenant *t, FDBTransaction **out);
void fdb_tenant_destroy(FDBTenant *t);

/* Transactions. */
void fdb_transaction_destroy(FDBTransaction *t);
void fdb_transaction_cancel(FDBTransaction *t);
void fdb_transaction_reset(FDBTransaction *t);
fdb_error_t fdb_transaction_set_option(FDBTransaction *t, FDBTransactionOption option, const uint8_t *value, int value_length);
void fdb_transaction_set_read_version(FDBTransaction *t, int64_t version);
FDBFuture *fdb_transaction_get_read_version(FDBTransaction *t);
FDBFuture *fdb_transaction_get(FDBTransaction *t, const uint8_t *key, int key_length, fdb_bool_t snapshot);
FDBFuture *fdb_transaction_get_key(FDBTransaction *t, const uint8_t *key, int key_length, fdb_bool_t or_equal, int offset,
				   fdb_bool_t snapshot);
FDBFuture *fdb_transaction_get_addresses_for_key(FDBTransaction *t, const uint8_t *key, int key_length);
FDBFuture *fdb_transaction_get_range(FDBTransaction *t, const uint8_t *begin_key, int begin_length, fdb_bool_t begin_or_equal,
				     int begin_offset, const uint8_t *end_key, int end_length, fdb_bool_t end_or_equal,
				     int end_offset, int limit, int target_bytes, FDBStreamingMode mode, int iteration,
				     fdb_bool_t snapshot, fdb_bool_t reverse);
FDBFuture *fdb_transaction_get_estimated_range_size_bytes(FDBTransaction *t, const uint8_t *begin_key, int begin_length,
							  const uint8_t *end_key, int end_length);
FDBFuture *fdb_transaction_get_range_split_points(FDBTransaction *t, const uint8_t *begin_key, int begin_length,
						  const uint8_t *end_key, int end_length, int64_t chunk_size);
void fdb_transaction_set(FDBTransaction *t, const uint8_t *key, int key_length, const uint8_t *value, int value_length);
void fdb_transaction_clear(FDBTransaction *t, const uint8_t *key, int key_length);
void fdb_transaction_clear_range(FDBTransaction *t, const uint8_t *begin_key, int begin_length, const uint8_t *end_key,
				 int end_length);
void fdb_transaction_atomic_op(FDBTransaction *t, const uint8_t *key, int key_length, const uint8_t *parameter,
			       int parameter_length, FDBMutationType type);
fdb_error_t fdb_transaction_add_conflict_range(FDBTransaction *t, const uint8_t *begin_key, int begin_length,
					       const uint8_t *end_key, int end_length, FDBConflictRangeType type);
FDBFuture *fdb_transaction_watch(FDBTransaction *t, const uint8_t *key, int key_length);
FDBFuture *fdb_transaction_commit(FDBTransaction *t);
FDBFuture *fdb_transaction_on_error(FDBTransaction *t, fdb_error_t code);
FDBFuture *fdb_transaction_get_approximate_size(FDBTransaction *t);
FDBFuture *fdb_transaction_get_versionstamp(FDBTransaction *t);
fdb_error_t fdb_transaction_get_committed_version(FDBTransaction *t, int64_t *out);

#ifdef __cplusplus
}
#endif

#endif

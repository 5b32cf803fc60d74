/* The kernel half's settings, counters and maps. Only the kernel half includes this file. */
#ifndef SCTRACE_ENGINE_BPF_MAPS_BPF_H
#define SCTRACE_ENGINE_BPF_MAPS_BPF_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "shared.h"

/* The loader sets these constants before it loads the programs. */
const volatile unsigned int scope = SCOPE_TASKS;
const volatile unsigned int split = SPLIT_NONE;
const volatile unsigned int follow = 0;
const volatile unsigned int self_tgid = 0;
const volatile unsigned int watch = 0;      /* calls are reported as `rules` says, and not counted */
const volatile unsigned int only_comms = 0; /* only processes with these names are in scope */
const volatile unsigned int only_uids = 0;  /* only processes of these users are in scope */
const volatile struct watch_rule rules[WATCH_CALLS] = {};
const volatile unsigned int max_slots = 1;
const volatile unsigned int max_chunks = 1;
const volatile unsigned int shards = 1; /* a power of two, at most SHARDS_MAX */

/*
 * The loader sets this variable when it stops counting. The entry hook is then removed before the exit hook, so the
 * exit hook may see a call that did not pass the entry hook.
 */
unsigned int closing = 0;

/*
 * The loader reads the variables below. After the programs have been loaded, it writes only `epoch` and, for the
 * program that it starts, `live` and `processes`.
 */
unsigned int next_slot = 0; /* the loader sets next_slot, next_chunk and epoch to 1 before it loads the programs */
unsigned int next_chunk = 0;
unsigned long long epoch = 0;    /* minima and maxima start anew when this number changes */
unsigned long long lost = 0;     /* calls that could not be counted */
unsigned long long untimed = 0;  /* calls that did not pass the entry hook because a seccomp filter answered them */
unsigned long long no_chunk = 0; /* times that were not added to a histogram */
unsigned long long lost_errnos = 0;
long long live = 0; /* counted processes that are alive */
unsigned long long processes = 0, unfollowed = 0;
unsigned int root_tgid = 0; /* the started program */
unsigned long long root_exec_ns = 0, root_exit_ns = 0;
unsigned long long peak_rss_pages = 0, processes_measured = 0;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, unsigned int); /* tgid of a process to count */
	__type(value, unsigned int);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct row_key);
	__type(value, unsigned int);
} rows SEC(".maps");

/* The tags of the rows, indexed by slot, so that the loader can find new rows without iterating over `rows`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, unsigned int);
	__type(value, struct row_tag);
} tags SEC(".maps");

/* Slots and chunks that the loader freed after the processes that used them had ended. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__type(value, unsigned int);
} free_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__type(value, unsigned int);
} free_chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct row_counts);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, unsigned int);
	__type(value, struct row_hist);
} hists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, unsigned int);
	__type(value, struct hist_chunk);
} chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct row_errno);
	__type(value, unsigned long long);
} errnos SEC(".maps");

struct comm {
	char text[COMM_SIZE];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, struct row_owner);
} owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct comm);
	__type(value, unsigned int);
} wanted_comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, unsigned int);
	__type(value, unsigned int);
} wanted_uids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, unsigned int);
} cgroup SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} ring SEC(".maps");

#endif

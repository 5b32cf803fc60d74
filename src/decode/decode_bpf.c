/* SPDX-License-Identifier: MIT */
#include "decode/layout.h"
#include "decode/show.h"

#include <linux/bpf.h>
#include <stdio.h>

/* bpf(2): shows the attributes of each command. */
#define BPF_MEMBER(m, path, k, flags)                                                                                  \
	{                                                                                                              \
		.name = #m, offsetof(union bpf_attr, path), sizeof(((union bpf_attr *)0)->path), K_##k, flags          \
	}
#define B(m, k)  BPF_MEMBER(m, m, k, 0)
#define BN(m, k) BPF_MEMBER(m, m, k, NONZERO)
/* A member of a named structure inside the union. It is shown under the last part of its name. */
#define BI(name, path, k)     BPF_MEMBER(name, path, k, 0)
#define BPF_LAYOUT(name, ...) static LAYOUT_OF(name, sizeof(union bpf_attr), &layout_##name, __VA_ARGS__)

BPF_LAYOUT(bpf_map_create, B(map_type, BPF_MAP_TYPE), B(key_size, UINT), B(value_size, UINT), B(max_entries, UINT),
	   B(map_flags, BPF_MAP_FLAGS), BN(inner_map_fd, FD),
	   {"map_name", offsetof(union bpf_attr, map_name), 0, K_COMM, 0}, BN(map_ifindex, UINT), BN(btf_fd, FD),
	   BN(btf_key_type_id, UINT), BN(btf_value_type_id, UINT));
BPF_LAYOUT(bpf_elem, B(map_fd, FD), B(key, PTR), B(value, PTR), B(flags, BPF_ELEM_FLAGS));
BPF_LAYOUT(bpf_delete_elem, B(map_fd, FD), B(key, PTR));
BPF_LAYOUT(bpf_next_key, B(map_fd, FD), B(key, PTR), B(next_key, PTR));
BPF_LAYOUT(bpf_prog_load, B(prog_type, BPF_PROG_TYPE), B(insn_cnt, UINT), B(insns, PTR), B(license, STR),
	   B(log_level, UINT), B(log_size, UINT), BN(log_buf, PTR), B(kern_version, KERNEL_VERSION),
	   B(prog_flags, BPF_PROG_FLAGS), {"prog_name", offsetof(union bpf_attr, prog_name), 0, K_COMM, 0},
	   BN(prog_ifindex, UINT), B(expected_attach_type, BPF_ATTACH_TYPE), BN(prog_btf_fd, FD),
	   BN(attach_btf_id, UINT));
BPF_LAYOUT(bpf_obj, B(pathname, PATH), BN(bpf_fd, FD), BN(file_flags, BPF_MAP_FLAGS));
BPF_LAYOUT(bpf_attach, B(target_fd, FD), B(attach_bpf_fd, FD), B(attach_type, BPF_ATTACH_TYPE),
	   BN(attach_flags, BPF_ATTACH_FLAGS), BN(replace_bpf_fd, FD));
BPF_LAYOUT(bpf_next_id, B(start_id, UINT), BN(open_flags, BPF_MAP_FLAGS));
BPF_LAYOUT(bpf_map_id, B(map_id, UINT), BN(open_flags, BPF_MAP_FLAGS));
BPF_LAYOUT(bpf_prog_id, B(prog_id, UINT), BN(open_flags, BPF_MAP_FLAGS));
BPF_LAYOUT(bpf_btf_id, B(btf_id, UINT), BN(open_flags, BPF_MAP_FLAGS));
BPF_LAYOUT(bpf_link_id, B(link_id, UINT), BN(open_flags, BPF_MAP_FLAGS));
BPF_LAYOUT(bpf_info, BI(bpf_fd, info.bpf_fd, FD), BI(info_len, info.info_len, UINT), BI(info, info.info, PTR));
BPF_LAYOUT(bpf_btf_load, B(btf, PTR), B(btf_size, UINT), BN(btf_log_size, UINT), BN(btf_log_level, UINT));
BPF_LAYOUT(bpf_raw_tracepoint, BI(name, raw_tracepoint.name, STR), BI(prog_fd, raw_tracepoint.prog_fd, FD));
BPF_LAYOUT(bpf_link_create, BI(prog_fd, link_create.prog_fd, FD), BI(target_fd, link_create.target_fd, FD),
	   BI(attach_type, link_create.attach_type, BPF_ATTACH_TYPE), BI(flags, link_create.flags, HEX));
BPF_LAYOUT(bpf_fd, B(map_fd, FD));
BPF_LAYOUT(bpf_batch, BI(in_batch, batch.in_batch, PTR), BI(out_batch, batch.out_batch, PTR), BI(keys, batch.keys, PTR),
	   BI(values, batch.values, PTR), BI(count, batch.count, UINT), BI(map_fd, batch.map_fd, FD));
BPF_LAYOUT(bpf_test_run, BI(prog_fd, test.prog_fd, FD), BI(data_size_in, test.data_size_in, UINT),
	   BI(data_size_out, test.data_size_out, UINT), BI(data_in, test.data_in, PTR),
	   BI(data_out, test.data_out, PTR), BI(repeat, test.repeat, UINT));

BPF_LAYOUT(bpf_query, BI(target_fd, query.target_fd, FD), BI(attach_type, query.attach_type, BPF_ATTACH_TYPE),
	   BI(query_flags, query.query_flags, BPF_QUERY), BI(prog_ids, query.prog_ids, PTR),
	   BI(prog_cnt, query.prog_cnt, UINT));
BPF_LAYOUT(bpf_task_fd, BI(pid, task_fd_query.pid, PID), BI(fd, task_fd_query.fd, FD),
	   BI(flags, task_fd_query.flags, HEX), BI(buf_len, task_fd_query.buf_len, UINT),
	   BI(buf, task_fd_query.buf, PTR));
BPF_LAYOUT(bpf_link_update, BI(link_fd, link_update.link_fd, FD), BI(new_prog_fd, link_update.new_prog_fd, FD),
	   BI(flags, link_update.flags, BPF_ATTACH_FLAGS), BI(old_prog_fd, link_update.old_prog_fd, FD));
BPF_LAYOUT(bpf_link_fd, BI(link_fd, link_detach.link_fd, FD));
BPF_LAYOUT(bpf_iter, BI(link_fd, iter_create.link_fd, FD), BI(flags, iter_create.flags, HEX));
BPF_LAYOUT(bpf_stats, BI(type, enable_stats.type, BPF_STATS));
BPF_LAYOUT(bpf_bind, BI(prog_fd, prog_bind_map.prog_fd, FD), BI(map_fd, prog_bind_map.map_fd, FD),
	   BI(flags, prog_bind_map.flags, HEX));

static const struct layout *const commands[] = {
	[BPF_MAP_CREATE] = &layout_bpf_map_create,
	[BPF_MAP_LOOKUP_ELEM] = &layout_bpf_elem,
	[BPF_MAP_UPDATE_ELEM] = &layout_bpf_elem,
	[BPF_MAP_DELETE_ELEM] = &layout_bpf_delete_elem,
	[BPF_MAP_GET_NEXT_KEY] = &layout_bpf_next_key,
	[BPF_PROG_LOAD] = &layout_bpf_prog_load,
	[BPF_OBJ_PIN] = &layout_bpf_obj,
	[BPF_OBJ_GET] = &layout_bpf_obj,
	[BPF_PROG_ATTACH] = &layout_bpf_attach,
	[BPF_PROG_DETACH] = &layout_bpf_attach,
	[BPF_PROG_TEST_RUN] = &layout_bpf_test_run,
	[BPF_PROG_GET_NEXT_ID] = &layout_bpf_next_id,
	[BPF_MAP_GET_NEXT_ID] = &layout_bpf_next_id,
	[BPF_PROG_GET_FD_BY_ID] = &layout_bpf_prog_id,
	[BPF_MAP_GET_FD_BY_ID] = &layout_bpf_map_id,
	[BPF_OBJ_GET_INFO_BY_FD] = &layout_bpf_info,
	[BPF_PROG_QUERY] = &layout_bpf_query,
	[BPF_RAW_TRACEPOINT_OPEN] = &layout_bpf_raw_tracepoint,
	[BPF_BTF_LOAD] = &layout_bpf_btf_load,
	[BPF_BTF_GET_FD_BY_ID] = &layout_bpf_btf_id,
	[BPF_MAP_LOOKUP_AND_DELETE_ELEM] = &layout_bpf_elem,
	[BPF_MAP_FREEZE] = &layout_bpf_fd,
	[BPF_BTF_GET_NEXT_ID] = &layout_bpf_next_id,
	[BPF_MAP_LOOKUP_BATCH] = &layout_bpf_batch,
	[BPF_MAP_LOOKUP_AND_DELETE_BATCH] = &layout_bpf_batch,
	[BPF_MAP_UPDATE_BATCH] = &layout_bpf_batch,
	[BPF_MAP_DELETE_BATCH] = &layout_bpf_batch,
	[BPF_LINK_CREATE] = &layout_bpf_link_create,
	[BPF_LINK_GET_FD_BY_ID] = &layout_bpf_link_id,
	[BPF_LINK_GET_NEXT_ID] = &layout_bpf_next_id,
	[BPF_ITER_CREATE] = &layout_bpf_iter,
	[BPF_LINK_DETACH] = &layout_bpf_link_fd,
	[BPF_TASK_FD_QUERY] = &layout_bpf_task_fd,
	[BPF_LINK_UPDATE] = &layout_bpf_link_update,
	[BPF_ENABLE_STATS] = &layout_bpf_stats,
	[BPF_PROG_BIND_MAP] = &layout_bpf_bind,
};

/* The members that the kernel writes if the command succeeds. */
BPF_LAYOUT(bpf_wrote_id, B(next_id, UINT));
BPF_LAYOUT(bpf_wrote_info, BI(info_len, info.info_len, UINT));
BPF_LAYOUT(bpf_wrote_test, BI(retval, test.retval, UINT), BI(data_size_out, test.data_size_out, UINT),
	   BI(duration, test.duration, UINT));
BPF_LAYOUT(bpf_wrote_batch, BI(count, batch.count, UINT));
BPF_LAYOUT(bpf_wrote_query, BI(attach_flags, query.attach_flags, BPF_ATTACH_FLAGS), BI(prog_cnt, query.prog_cnt, UINT));
BPF_LAYOUT(bpf_wrote_task, BI(buf_len, task_fd_query.buf_len, UINT), BI(prog_id, task_fd_query.prog_id, UINT),
	   BI(fd_type, task_fd_query.fd_type, BPF_FD_TYPE), BI(probe_offset, task_fd_query.probe_offset, HEX),
	   BI(probe_addr, task_fd_query.probe_addr, HEX));

static const struct layout *const written[] = {
	[BPF_PROG_TEST_RUN] = &layout_bpf_wrote_test,
	[BPF_PROG_GET_NEXT_ID] = &layout_bpf_wrote_id,
	[BPF_MAP_GET_NEXT_ID] = &layout_bpf_wrote_id,
	[BPF_OBJ_GET_INFO_BY_FD] = &layout_bpf_wrote_info,
	[BPF_PROG_QUERY] = &layout_bpf_wrote_query,
	[BPF_TASK_FD_QUERY] = &layout_bpf_wrote_task,
	[BPF_BTF_GET_NEXT_ID] = &layout_bpf_wrote_id,
	[BPF_MAP_LOOKUP_BATCH] = &layout_bpf_wrote_batch,
	[BPF_MAP_LOOKUP_AND_DELETE_BATCH] = &layout_bpf_wrote_batch,
	[BPF_MAP_UPDATE_BATCH] = &layout_bpf_wrote_batch,
	[BPF_MAP_DELETE_BATCH] = &layout_bpf_wrote_batch,
	[BPF_LINK_GET_NEXT_ID] = &layout_bpf_wrote_id,
};

/* The next argument is the size of the structure. */
void bpf_memory(command_memory_fn *add, void *ctx)
{
	struct command_memory m = {.table = TABLE_BPF,
				   .arg = 1,
				   .need = {.rule = MEMORY_CHANGED,
					    .count = COUNT_INT,
					    .from = 2,
					    .size = 1,
					    .most = sizeof(union bpf_attr)}};
	for (m.command = 0; m.command < sizeof(commands) / sizeof(*commands); m.command++) {
		const struct layout *l = commands[m.command];
		bool string = l == &layout_bpf_obj || l == &layout_bpf_raw_tracepoint;
		m.need.parts = l == &layout_bpf_prog_load ? PARTS_BPF_PROGRAM : string ? PARTS_BPF_STRING : PARTS_NONE;
		if (l)
			add(ctx, &m);
	}
}

/* Shows a version as KERNEL_VERSION(5, 4, 17). It consists of three bytes (linux/version.h). */
void show_kernel_version(const struct decode *d, const struct value *x)
{
	char text[64];
	snprintf(text, sizeof(text), "KERNEL_VERSION(%u, %u, %u)", (unsigned)(x->v >> 16 & 0xffff),
		 (unsigned)(x->v >> 8 & 0xff), (unsigned)(x->v & 0xff));
	emit_sym(d->out, text, x->v);
}

/*
 * The previous argument is the command, and the next one is the size of the structure. Members beyond the size are left
 * out.
 */
void show_bpf_attr(const struct decode *d, const struct value *x)
{
	uint32_t cmd = (uint32_t)d->call->args[x->arg - 1];
	if (cmd < sizeof(commands) / sizeof(*commands) && commands[cmd])
		layout_emit(d, commands[cmd], x->v, (uint32_t)d->call->args[x->arg + 1]);
	else
		emit_ptr(d->out, x->v);
}

/* Shows the members that the kernel has written: {start_id=0} => {next_id=7}. */
void show_bpf_attr_after(const struct decode *d, const struct value *x)
{
	uint32_t cmd = (uint32_t)d->call->args[x->arg - 1], size = (uint32_t)d->call->args[x->arg + 1];
	if (cmd >= sizeof(written) / sizeof(*written) || !written[cmd])
		return;
	emit_after(d->out);
	layout_emit(d, written[cmd], x->v, size < sizeof(union bpf_attr) ? size : sizeof(union bpf_attr));
}

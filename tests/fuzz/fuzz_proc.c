/* SPDX-License-Identifier: MIT */
/* Parses files of /proc, in which the traced program chooses paths and the names of tasks and sockets. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/escape.h"
#include "measure/machine_env.h"
#include "tracee/proc.h"

/* Each mapping must be valid, and pointers into the text must stay on its line. */
static void maps(const char *text, size_t size)
{
	struct proc_map m;
	const char *p = text;
	for (const char *line = p; proc_map_next(&p, &m); line = p) {
		FUZZ_REQUIRE(m.lo < m.hi && p > line && p <= text + size);
		FUZZ_REQUIRE(m.perm >= line && m.perm + 4 < m.name && m.name + m.name_len <= text + size);
		FUZZ_REQUIRE(!memchr(m.perm, '\n', (size_t)(m.name - m.perm) + m.name_len));
		proc_map_is(&m, "[stack]");
	}
	FUZZ_REQUIRE(!*p);
}

static void status(const char *text)
{
	struct proc_status s;
	proc_status_parse(text, &s);
	FUZZ_REQUIRE(s.has_signals || !(s.blocked && s.ignored && s.caught));
	FUZZ_REQUIRE((unsigned char)s.state < 0x80);
}

static void sockets(const char *line)
{
	struct buf out = {0};
	for (unsigned long inode = 0; inode < 3; inode++) {
		proc_net_inet(line, false, inode, &out);
		proc_net_inet(line, true, inode, &out);
		proc_net_unix(line, inode, &out);
		unsigned protocol;
		uint32_t port;
		proc_net_netlink(line, inode, &protocol, &port);
	}
	for (size_t i = 0; i < out.len; i++)
		FUZZ_REQUIRE(out.s[i] >= ' ' && out.s[i] <= '~');
	buf_free(&out);
}

static void machine(const char *line)
{
	char value[16];
	struct env_activity a = {0};
	if (env_field(line, "VmHWM", value, sizeof(value)))
		FUZZ_REQUIRE(strlen(value) < sizeof(value));
	env_debug_option(line);
	env_is_telling(line);
	env_activity_parse(line, &a);
	FUZZ_REQUIRE(a.busy_s >= 0 && a.idle_s >= 0 && a.steal_s >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	struct proc_mount mount;
	maps(text, strlen(text));
	status(text);
	for (char *line = text, *end; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		proc_mount_parse(line, &mount);
		sockets(line);
		machine(line);
	}
	free(text);
	return 0;
}

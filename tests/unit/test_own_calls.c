/* SPDX-License-Identifier: MIT */
/* Tests calls that the recorder makes on its own: it reads memory after calls that fail, and finds the names of descriptors. */
#include "engine/patch/record/record.h"
#include "record_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Makes a call of write(2), which fails. Returns what leave() returns. */
static uint64_t fail_to_write(uint32_t permits, uint64_t addr, int64_t error)
{
	const uint64_t args[6] = {1000, addr, 4};
	set_up(RING_DATA);
	rig.ring->permits = permits;
	assert_true(enter(SYS_write, args));
	return leave(-error);
}

/* If the recorder may make calls, it captures memory that the kernel may not have read, as far as it can be read. */
static void calls_that_fail_are_complete(void **state)
{
	(void)state;
	const uint64_t data = (uint64_t)(uintptr_t) "data";
	char bytes[4], *pages = map(NULL, 2 * AGENT_PAGE);
	assert_int_equal(fail_to_write(0, data, EBADF), 1);
	assert_int_equal(fail_to_write(RING_PERMITS_READING, data, EBADF), 0);
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_int_equal(read_captures(take().record, false, data, bytes, sizeof(bytes)), 4);
	assert_memory_equal(bytes, "data", 4);
	assert_int_equal(fail_to_write(RING_PERMITS_READING, 8, EFAULT), 0);
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_true(read_captures(take().record, false, 8, bytes, sizeof(bytes)) < 0);

	/* A string that ends at unreadable memory */
	assert_int_equal(munmap(pages + AGENT_PAGE, AGENT_PAGE), 0);
	memcpy(pages + AGENT_PAGE - 3, "abc", 3);
	const uint64_t path[6] = {1000, (uint64_t)(uintptr_t)(pages + AGENT_PAGE - 3)};
	set_up(RING_DATA);
	rig.ring->permits = RING_PERMITS_READING;
	assert_true(enter(SYS_openat, path));
	assert_int_equal(leave(-EFAULT), 0);
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_int_equal(read_captures(take().record, false, path[1], bytes, sizeof(bytes)), 3);
	munmap(pages, AGENT_PAGE);
}

/* What has no room in the ring is not forgotten: sctrace captures it. */
static void calls_that_fail_without_room_ask(void **state)
{
	(void)state;
	static char path[4000];
	const uint64_t args[6] = {1000, (uint64_t)(uintptr_t)path};
	memset(path, 'x', sizeof(path) - 1);
	set_up_ring(1024, 2048);
	rig.ring->permits = RING_PERMITS_READING;
	assert_true(enter(SYS_openat, args));
	assert_int_equal(leave(-EBADF), 1);
}

static struct record kept; /* the storage of record_names() */

/* Returns the names in the record of the call that was made last. */
static const struct event_names *last_names(bool before)
{
	struct record_item item;
	assert_int_equal(reader_fill(&rig.reader), 0);
	do {
		item = take();
		assert_int_not_equal(item.kind, RECORD_NONE);
	} while (item.kind != RECORD_EXIT || rig.reader.at < rig.reader.n);
	return record_names(&kept, item.record, before);
}

/* Does a close(2) of the descriptor stop before it is made? Sets *named if its record contains the name of the descriptor. */
static bool is_close_announced(uint32_t permits, int fd, bool *named)
{
	const uint64_t args[6] = {(uint64_t)fd};
	rig.ring->permits = permits;
	assert_true(enter(SYS_close, args));
	const struct agent_record *rec = (const struct agent_record *)(uintptr_t)rig.scratch.record;
	bool announced = rec->marks & 1;
	assert_int_equal(leave(0), 0);
	const struct event_names *names = last_names(true);
	*named = names && names->n == 1 && names->v[0].fd == fd && !names->v[0].deleted;
	return announced;
}

/* The names of new descriptors are recorded, so that close(2) need not stop before it is made. */
static void names_of_descriptors_are_recorded(void **state)
{
	(void)state;
	const uint64_t args[6] = {(uint64_t)AT_FDCWD, (uint64_t)(uintptr_t) "/dev/null"};
	bool named;
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	recipes[SYS_openat].asks = recipes[SYS_close].announces = recipes[SYS_close].closes = 1;
	recipes[SYS_openat].names = NAMES_RESULT;
	recipes[SYS_close].fd = 1;
	set_up(RING_DATA);
	assert_true(enter(SYS_openat, args));
	assert_int_equal(leave(fd), 1);
	for (int full = 0; full < 2; full++) {
		const uint32_t permits = RING_PERMITS_NAMING | (full ? RING_NAMES_IN_FULL : 0);
		set_up(RING_DATA);
		rig.ring->permits = permits;
		assert_true(enter(SYS_openat, args));
		assert_int_equal(leave(fd), 0);
		const struct event_names *names = last_names(false);
		assert_int_equal(names->n, 1);
		assert_int_equal(names->v[0].fd, fd);
		assert_int_equal(names->v[0].len, strlen("/dev/null"));
		assert_memory_equal(names->v[0].text, "/dev/null", names->v[0].len);
		assert_true(!full || (S_ISCHR(names->v[0].mode) && names->v[0].rdev == makedev(1, 3)));
		assert_false(is_close_announced(permits, fd, &named));
		assert_false(named); /* the record of openat(2) has the name */
		assert_false(is_close_announced(permits, fd, &named));
		assert_true(named);
		assert_true(is_close_announced(permits, 1000, &named));
	}
	assert_true(is_close_announced(0, 1000, &named));
	assert_false(is_close_announced(RING_PERMITS_TESTING, 1000, &named));
	recipes[SYS_openat].asks = recipes[SYS_close].announces = recipes[SYS_close].closes = 0;
	recipes[SYS_openat].names = NAMES_NONE;
	recipes[SYS_close].fd = 0;
	close(fd);
}

/* Records the call dup(2) of `fd`, which has returned `other`. Returns the name that its record has for `other`. */
static struct event_name name_of_duplicate(int fd, int other)
{
	const uint64_t args[6] = {(uint64_t)fd};
	assert_true(enter(SYS_dup, args));
	assert_int_equal(leave(other), 0);
	const struct event_names *names = last_names(false);
	assert_int_equal(names->n, 1);
	assert_int_equal(names->v[0].fd, other);
	return names->v[0];
}

/* A descriptor that duplicates another one has its name, which need not be looked up again if it is known. */
static void names_of_duplicates_are_known(void **state)
{
	(void)state;
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), other = dup(fd);
	const uint64_t args[6] = {(uint64_t)fd};
	recipes[SYS_dup].asks = recipes[SYS_dup].fd = recipes[SYS_close].closes = recipes[SYS_close].announces = 1;
	recipes[SYS_close].fd = 1;
	recipes[SYS_dup].names = NAMES_RESULT;
	for (int full = 0; full < 2; full++) {
		set_up(RING_DATA);
		rig.ring->permits = RING_PERMITS_NAMING | (full ? RING_NAMES_IN_FULL : 0);
		assert_false(
			name_of_duplicate(fd, other).is_copy); /* its own record is the first with the name of `fd` */
		const struct event_name name = name_of_duplicate(fd, other);
		assert_true(name.is_copy && name.of == fd);
		rig.ring->permits |= RING_NAMES_EACH_TIME; /* another process may change what `fd` refers to */
		assert_false(name_of_duplicate(fd, other).is_copy);
		rig.ring->permits &= ~(uint32_t)RING_NAMES_EACH_TIME;
		assert_true(enter(SYS_close, args)); /* of `fd`, and then it is another file */
		assert_int_equal(leave(0), 0);
		assert_false(name_of_duplicate(fd, other).is_copy);
		assert_true(enter(SYS_close, args));
		assert_int_equal(leave(0), 0);
		(void)last_names(true);
	}
	recipes[SYS_dup].asks = recipes[SYS_dup].fd = recipes[SYS_close].closes = recipes[SYS_close].announces = 0;
	recipes[SYS_close].fd = 0;
	recipes[SYS_dup].names = NAMES_NONE;
	close(fd);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_fail_are_complete),
		cmocka_unit_test(calls_that_fail_without_room_ask),
		cmocka_unit_test(names_of_descriptors_are_recorded),
		cmocka_unit_test(names_of_duplicates_are_known),
	};
	return cmocka_run_group_tests(tests, set_up_all, NULL);
}

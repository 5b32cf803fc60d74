/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without libFuzzer: for each file of the corpus, and for modified copies of it. The modifications
 * come from a generator with a fixed seed, so a failure is reproducible everywhere.
 */
#include "fuzz.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#define INPUT_MAX        65536
#define CHANGED_PER_FILE 400

static uint64_t next_random(uint64_t *state)
{
	/* Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (splitmix64). */
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Flips, overwrites, cuts or duplicates bytes. Returns the new size. */
static size_t change(uint8_t *data, size_t size, uint64_t *state)
{
	static const uint8_t interesting[] = {0, 0xff, 0x7f, 0x80, '"', '\\', '{', '[', ',', '-', '%', '\n', '9'};
	for (uint64_t n = 1 + next_random(state) % 4; n > 0 && size > 0; n--) {
		size_t at = next_random(state) % size;
		switch (next_random(state) % 4) {
		case 0:
			data[at] ^= (uint8_t)(1u << next_random(state) % 8);
			break;
		case 1:
			data[at] = interesting[next_random(state) % sizeof(interesting)];
			break;
		case 2:
			size = at;
			break;
		default:
			if (size + size - at <= INPUT_MAX) {
				memmove(data + size, data + at, size - at);
				size += size - at;
			}
		}
	}
	return size;
}

/* The target gets memory of exactly the input's size, so that a sanitizer notices an access beyond it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *exact = calloc(1, size ? size : 1);
	FUZZ_REQUIRE(exact);
	memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static int replay(const char *path, uint64_t *state)
{
	static uint8_t original[INPUT_MAX], changed[INPUT_MAX];
	FILE *f = fopen(path, "re");
	if (!f) {
		perror(path);
		return -1;
	}
	size_t size = fread(original, 1, sizeof(original), f);
	fclose(f);
	run(original, size);
	for (int i = 0; i < CHANGED_PER_FILE; i++) {
		memcpy(changed, original, size);
		run(changed, change(changed, size, state));
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t state = 42;
	int files = 0;
	DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
	run((const uint8_t *)"", 0);
	if (!dir) {
		fprintf(stderr, "%s: the corpus cannot be read: %s\n", argv[0], argc > 1 ? argv[1] : "none was given");
		return 1;
	}
	for (const struct dirent *e; (e = readdir(dir));) {
		char path[PATH_MAX];
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
		if (replay(path, &state) != 0)
			return 1;
		files++;
	}
	closedir(dir);
	printf("%d inputs, %d changed ones\n", files, files * CHANGED_PER_FILE);
	return files > 0 ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* Tests the names of C++ and Rust functions. */
#include "stack/stack.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_built_in(void)
{
	struct buf out = {0};
	bool known = demangle("_Z1fv", &out);
	buf_free(&out);
	return known;
}

static void names(void **state)
{
	static const struct {
		const char *name, *expected; /* NULL: the name is not mangled */
	} cases[] = {
		{"main", NULL},
		{"_start", NULL},
		{"_Z", NULL},
		{"_ZN4shop4CartISsE3addERKSs", "shop::Cart<std::string>::add"},
		{"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
		{"_ZN46_$LT$cr..Cart$LT$T$GT$$u20$as$u20$cr..Sink$GT$3put17h0123456789abcdefE",
		 "<cr::Cart<T> as cr::Sink>::put"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>"},
		{"_RNCNvC2cr4main0", "cr::main::{closure#0}"},
		{"_R", NULL},
	};
	(void)state;
	if (!is_built_in())
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf out = {0};
		bool known = demangle(cases[i].name, &out);
		assert_string_equal(known ? buf_str(&out) : "", cases[i].expected ? cases[i].expected : "");
		buf_free(&out);
	}
}

/* Each level doubles the length of the name. The text is cut off, and the memory is limited. */
static void endless_names(void **state)
{
	struct buf name = {0}, out = {0};
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	(void)state;
	/* f(a<int, int>, a<S0_, S0_>, a<S1_, S1_>, ...): each parameter is twice as long as the previous one. */
	buf_adds(&name, "_Z1fI1aIiiEvE");
	buf_clear(&name);
	buf_adds(&name, "_ZN1xI1aIiiE");
	for (int i = 1; i < 34; i++)
		buf_addf(&name, "S0_IS%c_S%c_E", digits[i], digits[i]);
	buf_adds(&name, "E1fEv");
	demangle(buf_str(&name), &out);
	assert_true(out.len <= DEMANGLED_MOST);
	buf_clear(&name);
	buf_adds(&name, "_Z");
	buf_fill(&name, 'P', 100000);
	assert_false(demangle(buf_str(&name), &out));
	buf_free(&name);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(endless_names)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

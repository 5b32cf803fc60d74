/* SPDX-License-Identifier: MIT */
/* Included in a program that is linked with this section at the address of the patch engine's agent. */
__attribute__((section(".occupied"), used)) static char occupied[4096] = {1};

/* SPDX-License-Identifier: MIT */
/* Prints what src/object reads from a file, one fact per line, for object_llvm.py to compare with LLVM's
 * tools.
 *
 * object_dump FILE           descriptors and, for every dword of code, its symbol and source line
 * object_dump FILE IMAGE     writes the image loaded at base 0x7000000000 to the file IMAGE */
#include "object/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LLVM's directive and the member with the same meaning. */
static const struct {
    const char *directive;
    size_t member;
} members[] = {
#define MEMBER(directive, member) {".amdhsa_" #directive, offsetof(struct wmi_kernel_descriptor, member)}
    MEMBER(group_segment_fixed_size, lds_size),
    MEMBER(private_segment_fixed_size, scratch_size),
    MEMBER(kernarg_size, kernarg_size),
    MEMBER(accum_offset, accum_offset),
    MEMBER(tg_split, tg_split),
    MEMBER(shared_vgpr_count, shared_vgprs),
    MEMBER(inst_pref_size, inst_pref_size),
    MEMBER(float_round_mode_32, round_32),
    MEMBER(float_round_mode_16_64, round_16_64),
    MEMBER(float_denorm_mode_32, denorm_32),
    MEMBER(float_denorm_mode_16_64, denorm_16_64),
    MEMBER(dx10_clamp, dx10_clamp),
    MEMBER(ieee_mode, ieee),
    MEMBER(fp16_overflow, fp16_overflow),
    MEMBER(workgroup_processor_mode, wgp_mode),
    MEMBER(memory_ordered, mem_ordered),
    MEMBER(forward_progress, forward_progress),
    MEMBER(system_sgpr_private_segment_wavefront_offset, scratch_enabled),
    MEMBER(enable_private_segment, scratch_enabled),
    MEMBER(system_sgpr_workgroup_id_x, workgroup_id_x),
    MEMBER(system_sgpr_workgroup_id_y, workgroup_id_y),
    MEMBER(system_sgpr_workgroup_id_z, workgroup_id_z),
    MEMBER(system_sgpr_workgroup_info, workgroup_info),
    MEMBER(system_vgpr_workitem_id, workitem_id),
    MEMBER(user_sgpr_private_segment_buffer, private_segment_buffer),
    MEMBER(user_sgpr_dispatch_ptr, dispatch_ptr),
    MEMBER(user_sgpr_queue_ptr, queue_ptr),
    MEMBER(user_sgpr_kernarg_segment_ptr, kernarg_segment_ptr),
    MEMBER(user_sgpr_dispatch_id, dispatch_id),
    MEMBER(user_sgpr_flat_scratch_init, flat_scratch_init),
    MEMBER(user_sgpr_private_segment_size, private_segment_size),
    MEMBER(user_sgpr_kernarg_preload_length, preload_length),
    MEMBER(user_sgpr_kernarg_preload_offset, preload_offset),
    MEMBER(wavefront_size32, wave32),
    MEMBER(uses_dynamic_stack, dynamic_stack),
#undef MEMBER
};

static void print_kernel(const struct wm_kernel *kernel)
{
    static const char *const exceptions[] = {"fp_ieee_invalid_op", "fp_denorm_src",     "fp_ieee_div_zero",
                                             "fp_ieee_overflow",   "fp_ieee_underflow", "fp_ieee_inexact",
                                             "int_div_zero"};
    const struct wmi_kernel_descriptor *d = wmi_kernel_descriptor(kernel);
    printf("kernel %s 0x%" PRIx64 " 0x%" PRIx64 "\n", kernel->name, kernel->descriptor, kernel->entry);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        uint32_t value;
        memcpy(&value, (const char *)d + members[i].member, sizeof(value));
        printf("%s %u\n", members[i].directive, value);
    }
    for (unsigned i = 0; i < 7; i++)
        printf(".amdhsa_exception_%s %u\n", exceptions[i], d->exceptions >> i & 1);
    printf(".amdhsa_next_free_vgpr %u\n", d->accum_offset ? d->vgprs + d->agprs : d->vgprs);
    if (d->granulated_sgprs || d->sgprs != 106)
        printf(".amdhsa_next_free_sgpr %u\n", d->sgprs);
}

static void print_code(const struct wm_object *object, const struct wm_code *code)
{
    for (size_t at = 0; at < code->size; at += 4) {
        const uint64_t address = code->address + at;
        const char *file = "";
        uint64_t distance = 0;
        unsigned line = 0, column = 0;
        const char *symbol = wm_object_symbol(object, address, &distance);
        wm_object_line(object, address, &file, &line, &column);
        printf("at 0x%" PRIx64 " %s+0x%" PRIx64 " %s:%u:%u\n", address, symbol ? symbol : "?", distance, file,
               line, column);
    }
}

static bool resolve(void *user, const char *name, uint64_t *address)
{
    (void)user;
    *address = 0x123456789a;
    return strcmp(name, "outside") == 0;
}

static int write_image(const struct wm_object *object, const char *path)
{
    struct wm_diag diag;
    const struct wmi_span span = wmi_object_span(object);
    unsigned char *image = malloc(span.high - span.low);
    FILE *file = fopen(path, "wb");
    const bool ok =
        image && file &&
        wmi_object_image(object, 0x7000000000 + span.low, resolve, NULL, image, false, &diag) == WM_OK &&
        fwrite(image, span.high - span.low, 1, file) == 1;
    if (file)
        fclose(file);
    free(image);
    printf("span 0x%" PRIx64 " 0x%" PRIx64 "\n", span.low, span.high);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct wm_object *object;
    struct wm_diag diag;
    struct wm_code code[16];
    int result = 0;
    if (argc < 2 || wm_object_open_file(argv[1], NULL, &object, &diag) != WM_OK) {
        puts(argc < 2 ? "usage: object_dump FILE [IMAGE]" : diag.message);
        return 2;
    }
    if (argc > 2) {
        result = write_image(object, argv[2]);
    } else {
        for (size_t i = 0; i < wm_object_kernel_count(object); i++)
            print_kernel(wm_object_kernel(object, i));
        const size_t count = wm_object_code(object, code, 16);
        for (size_t i = 0; i < count && i < 16; i++)
            print_code(object, &code[i]);
    }
    wm_object_close(object);
    return result;
}

/* SPDX-License-Identifier: MIT */
/* The packet processor: turns a packet into a dispatch, waits for the signals that it depends on, runs it and
 * signals its completion. Queues use it, and wm_dispatch_packet(), by which the replacements for AMD's
 * runtime and drivers run kernels. */
#ifndef WMI_API_PACKET_H
#define WMI_API_PACKET_H

#include "api/kernel_at.h"

struct wmi_packet {
    /* Set by the owner. */
    struct wm_machine *machine;
    const char *function;                                  /* of the API, for messages */
    const struct wmi_observer *holder;                     /* of a run that can be stopped; or NULL */
    uint64_t *cursor;                                      /* see struct wmi_abi_request; or NULL */
    bool (*is_cancelled)(const struct wmi_packet *packet); /* or NULL: it cannot be cancelled */

    struct wm_packet given; /* the caller's; what it points to is copied: */
    uint64_t *dependencies;
    struct wm_dispatch options;
    struct wm_start start;
    struct wmi_kernel_at at;
    bool (*progress)(void *user, uint64_t done, uint64_t all); /* the caller's, or NULL */
    void *progress_user;
};

/* Copies the caller's packet. wmi_packet_release() is to be called also after an error. The packet must not
 * move in between. */
enum wm_status wmi_packet_take(struct wmi_packet *packet, const struct wm_packet *given,
                               struct wm_diag *diag);
void wmi_packet_release(struct wmi_packet *packet);
/* Waits for the signals that the packet depends on, runs it, and tells the caller. */
enum wm_status wmi_packet_run(struct wmi_packet *packet, struct wm_diag *diag);
/* wm_dispatch_packet() with a holder, of a machine and a packet that are not NULL. */
enum wm_status wmi_dispatch_packet_with(struct wm_machine *machine, const struct wm_packet *given,
                                        const struct wmi_observer *holder, struct wm_diag *diag);
/* Signals that the packet has completed, and calls completed() with it, both under the lock, so that a thread
 * that sees the effect of one sees that of the other. lock, completed: or NULL. */
void wmi_packet_signal(const struct wmi_packet *packet, pthread_mutex_t *lock, void (*completed)(void *user),
                       void *user);

#endif

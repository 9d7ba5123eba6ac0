/* The three forms of a collective call. */
#ifndef COLL_FORMS_H
#define COLL_FORMS_H

#include "check.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static int form;

/* RUN makes a call in the form that form names; a persistent one is started twice. */
#define RUN(name, nonblocking, ...) \
	do { \
		MPI_Request request_ = MPI_REQUEST_NULL; \
		switch (form) { \
		case BLOCKING: \
			OK(MPI_##name(__VA_ARGS__)); \
			break; \
		case NONBLOCKING: \
			OK(MPI_##nonblocking(__VA_ARGS__, &request_)); \
			OK(MPI_Wait(&request_, MPI_STATUS_IGNORE)); \
			break; \
		case PERSISTENT: \
			OK(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_)); \
			for (int i_ = 0; i_ < 2; i_++) { \
				OK(MPI_Start(&request_)); \
				OK(MPI_Wait(&request_, MPI_STATUS_IGNORE)); \
			} \
			OK(MPI_Request_free(&request_)); \
		} \
	} while (0)

#endif

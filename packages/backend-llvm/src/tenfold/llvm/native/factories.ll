; Factories without the interpreter: `zeros`, `ones`, `empty` of a few sizes by position, `full` of sizes and a float, in float32 on
; the CPU where these are the defaults; and their forms that follow a plain tensor, such as `zeros_like`. Of few elements: making
; many takes longer than the interpreter.

@d_devices = global ptr null    ; the string "devices"
@d_types = global ptr null      ; the dictionary that has the default dtype
@d_default = global ptr null    ; the string that it has there
@d_float32 = global ptr null
@d_size = global ptr null       ; the class of sizes
@f_determinism = global ptr null  ; the dictionary that says whether memory is filled that nobody wrote
@f_on = global ptr null           ; the string that it has there
@f_collected = global ptr null    ; a dictionary: what the garbage collector has done, which core's factories look at

; Whether no layer is entered and no inference mode.
define internal i1 @usual() alwaysinline {
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  ret i1 %usual
}

; Whether nothing was collected since somebody looked.
define internal i1 @uncollected() alwaysinline {
  %dictionary = load ptr, ptr @f_collected
  %count = call i64 @word(ptr %dictionary, i64 2)
  %none = icmp eq i64 %count, 0
  ret i1 %none
}

; The number of dimensions of a call that names a shape and nothing else, where float32 and the CPU are the defaults; else -1. The
; shape goes to `shape`, the number of its elements to `count_is`.
define i64 @plain_size(ptr %args, i64 %n, ptr %names, ptr %shape, ptr %count_is) {
entry:
  %usual = call i1 @usual()
  %unnamed = icmp eq ptr %names, null
  %some = icmp sgt i64 %n, 0
  %c0 = and i1 %usual, %unnamed
  %c1 = and i1 %c0, %some
  br i1 %c1, label %sizes, label %no
sizes:
  %first = call ptr @pointer(ptr %args, i64 0)
  %type = call ptr @at(ptr %first, i64 8)
  %Tuple = load ptr, ptr @g_tuple
  %Size = load ptr, ptr @d_size
  %is_tuple = icmp eq ptr %type, %Tuple
  %is_size = icmp eq ptr %type, %Size
  %whole = or i1 %is_tuple, %is_size
  br i1 %whole, label %inside, label %open
inside:
  %alone = icmp eq i64 %n, 1
  br i1 %alone, label %inside_open, label %no
inside_open:
  %inside_n = call i64 @word(ptr %first, i64 2)
  %inside_items = getelementptr i8, ptr %first, i64 24
  br label %open
open:
  %rank = phi i64 [%n, %sizes], [%inside_n, %inside_open]
  %items = phi ptr [%args, %sizes], [%inside_items, %inside_open]
  %low = icmp sgt i64 %rank, 0
  %high = icmp slt i64 %rank, 9
  %fits = and i1 %low, %high
  br i1 %fits, label %size, label %no
size:
  %d = phi i64 [0, %open], [%dnext, %taken]
  %count = phi i64 [1, %open], [%more, %taken]
  %all = icmp eq i64 %d, %rank
  br i1 %all, label %defaults, label %one
one:
  %item = call ptr @pointer(ptr %items, i64 %d)
  %length = call i64 @whole_number(ptr %item, i64 -1)
  %positive = icmp sgt i64 %length, 0
  %bounded = icmp slt i64 %length, 16385
  %good = and i1 %positive, %bounded
  br i1 %good, label %take, label %no
take:
  %more = mul i64 %count, %length
  %small = icmp slt i64 %more, 16385
  br i1 %small, label %taken, label %no
taken:
  %slot = getelementptr i64, ptr %shape, i64 %d
  store i64 %length, ptr %slot
  %dnext = add i64 %d, 1
  br label %size
defaults:
  %types = load ptr, ptr @d_types
  %default = load ptr, ptr @d_default
  %dtype = call ptr @PyDict_GetItemWithError(ptr %types, ptr %default)
  %Single = load ptr, ptr @d_float32
  %single = icmp eq ptr %dtype, %Single
  br i1 %single, label %device, label %no
device:
  %thread = load ptr, ptr @p_thread
  %devices_name = load ptr, ptr @d_devices
  %devices = call ptr @PyObject_GetAttr(ptr %thread, ptr %devices_name)
  %no_devices = icmp eq ptr %devices, null
  br i1 %no_devices, label %clear, label %devices_look
clear:
  call void @PyErr_Clear()
  br label %no
devices_look:
  %chosen = call i64 @word(ptr %devices, i64 2)
  call void @Py_DecRef(ptr %devices)
  %here = icmp eq i64 %chosen, 0
  br i1 %here, label %yes, label %no
yes:
  store i64 %count, ptr %count_is
  ret i64 %rank
no:
  ret i64 -1
}

; A new tensor of float32 or float64 with a value everywhere; `kind` 0: with none.
define internal ptr @filled(i64 %kind, ptr %dtype, i64 %rank, ptr %shape, i64 %count, double %value) {
entry:
  %Array = load ptr, ptr @g_ndarray
  %F32 = load ptr, ptr @p_float32
  %rank32 = trunc i64 %rank to i32
  call void @Py_IncRef(ptr %dtype)
  %array = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank32, ptr %shape, ptr null, ptr null, i32 0, ptr null)
  %lost = icmp eq ptr %array, null
  br i1 %lost, label %fail, label %fill
fill:
  %data = call ptr @at(ptr %array, i64 16)
  %nothing = icmp eq i64 %kind, 0
  %single = icmp eq ptr %dtype, %F32
  br i1 %nothing, label %wrap, label %write
write:
  %bits = bitcast double %value to i64
  %positive = icmp eq i64 %bits, 0
  br i1 %positive, label %clear, label %which
clear:
  %shift = select i1 %single, i64 2, i64 3
  %bytes = shl i64 %count, %shift
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  br label %wrap
which:  ; 64 bytes at a time, then word after word
  %narrow = fptrunc double %value to float
  %narrow_bits = bitcast float %narrow to i32
  %low = zext i32 %narrow_bits to i64
  %high = shl i64 %low, 32
  %pair = or i64 %high, %low
  %pattern = select i1 %single, i64 %pair, i64 %bits
  %one = insertelement <8 x i64> poison, i64 %pattern, i32 0
  %eight = shufflevector <8 x i64> %one, <8 x i64> poison, <8 x i32> zeroinitializer
  %size_shift = select i1 %single, i64 2, i64 3
  %all_bytes = shl i64 %count, %size_shift
  br label %look
look:
  %at = phi i64 [0, %which], [%at_next, %many]
  %at_next = add i64 %at, 64
  %fits = icmp sle i64 %at_next, %all_bytes
  br i1 %fits, label %many, label %rest
many:
  %p = getelementptr i8, ptr %data, i64 %at
  store <8 x i64> %eight, ptr %p, align 8
  br label %look
rest:
  %k = phi i64 [%at, %look], [%knext, %moved]
  %end = icmp sge i64 %k, %all_bytes
  br i1 %end, label %wrap, label %last
last:
  %q = getelementptr i8, ptr %data, i64 %k
  br i1 %single, label %last_narrow, label %last_wide
last_narrow:
  store i32 %narrow_bits, ptr %q
  br label %moved
last_wide:
  store i64 %bits, ptr %q
  br label %moved
moved:
  %each = select i1 %single, i64 4, i64 8
  %knext = add i64 %k, %each
  br label %rest
wrap:
  %tensor = call ptr @new_tensor(ptr %array)
  ret ptr %tensor
fail:
  ret ptr null
}

; The value of a float; a number that is none, or that float32 does not hold, is left to Python.
define internal i1 @float_value(ptr %object, ptr %value_is) {
entry:
  %Float = load ptr, ptr @g_float
  %type = call ptr @at(ptr %object, i64 8)
  %is = icmp eq ptr %type, %Float
  br i1 %is, label %read, label %no
read:
  %p = getelementptr i8, ptr %object, i64 16
  %x = load double, ptr %p
  %size = call double @llvm.fabs.f64(double %x)
  %fits = fcmp olt double %size, 3.0e38
  br i1 %fits, label %yes, label %no
yes:
  store double %x, ptr %value_is
  ret i1 true
no:
  ret i1 false
}

; Whether memory may be left as it is.
define internal i1 @may_be_empty() {
  %dictionary = load ptr, ptr @f_determinism
  %name = load ptr, ptr @f_on
  %False = load ptr, ptr @g_False
  %on = call ptr @PyDict_GetItemWithError(ptr %dictionary, ptr %name)
  %off = icmp eq ptr %on, %False
  ret i1 %off
}

; `kind`: 0 empty, 1 zeros, 2 ones, 3 full.
define internal ptr @make_path(i64 %kind, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %shape = alloca [8 x i64]
  %count_is = alloca i64
  %value_is = alloca double
  %n = and i64 %nargsf, 9223372036854775807
  %is_one = icmp eq i64 %kind, 2
  %constant = select i1 %is_one, double 1.0, double 0.0
  store double %constant, ptr %value_is
  %is_full = icmp eq i64 %kind, 3
  br i1 %is_full, label %full, label %perhaps_empty
full:  ; the shape as one tuple, and a float
  %pair = icmp eq i64 %n, 2
  br i1 %pair, label %full_value, label %slow
full_value:
  %given = call ptr @pointer(ptr %args, i64 1)
  %is_float = call i1 @float_value(ptr %given, ptr %value_is)
  %first = call ptr @pointer(ptr %args, i64 0)
  %first_type = call ptr @at(ptr %first, i64 8)
  %Int = load ptr, ptr @g_int
  %a_number = icmp eq ptr %first_type, %Int
  %no_number = xor i1 %a_number, true
  %full_fits = and i1 %is_float, %no_number
  br i1 %full_fits, label %size, label %slow
perhaps_empty:
  %is_empty = icmp eq i64 %kind, 0
  br i1 %is_empty, label %empty, label %size
empty:
  %may = call i1 @may_be_empty()
  br i1 %may, label %size, label %slow
size:
  %sizes_n = phi i64 [1, %full_value], [%n, %perhaps_empty], [%n, %empty]
  %rank = call i64 @plain_size(ptr %args, i64 %sizes_n, ptr %names, ptr %shape, ptr %count_is)
  %unfit = icmp slt i64 %rank, 0
  %uncollected = call i1 @uncollected()
  %collected = xor i1 %uncollected, true
  %looks = icmp eq i64 %kind, 1  ; zeros alone: the others do not look, and drawn numbers neither
  %due = and i1 %collected, %looks
  %left = or i1 %unfit, %due
  br i1 %left, label %slow, label %make
make:
  %F32 = load ptr, ptr @p_float32
  %count = load i64, ptr %count_is
  %value = load double, ptr %value_is
  %made = call ptr @filled(i64 %kind, ptr %F32, i64 %rank, ptr %shape, i64 %count, double %value)
  ret ptr %made
slow:
  %usual_way = call ptr @otherwise(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}

define internal ptr @like_path(i64 %kind, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %value_is = alloca double
  %dtype_is = alloca ptr
  store ptr null, ptr %dtype_is
  %n = and i64 %nargsf, 9223372036854775807
  %is_one = icmp eq i64 %kind, 2
  %constant = select i1 %is_one, double 1.0, double 0.0
  store double %constant, ptr %value_is
  %is_full = icmp eq i64 %kind, 3
  %expected = select i1 %is_full, i64 2, i64 1
  %complete = icmp eq i64 %n, %expected
  %unnamed = icmp eq ptr %names, null
  %usual = call i1 @usual()
  %c0 = and i1 %complete, %unnamed
  %c = and i1 %c0, %usual
  br i1 %c, label %value, label %slow
value:
  br i1 %is_full, label %full, label %perhaps_empty
full:
  %given = call ptr @pointer(ptr %args, i64 1)
  %is_float = call i1 @float_value(ptr %given, ptr %value_is)
  br i1 %is_float, label %like, label %slow
perhaps_empty:
  %is_empty = icmp eq i64 %kind, 0
  br i1 %is_empty, label %empty, label %like
empty:
  %may = call i1 @may_be_empty()
  br i1 %may, label %like, label %slow
like:
  %tensor = load ptr, ptr %args
  %type = call ptr @at(ptr %tensor, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %array_of, label %slow
array_of:
  %array = call ptr @plain_array(ptr %tensor, i32 257)
  %none = icmp eq ptr %array, null
  br i1 %none, label %slow, label %dtype
dtype:
  %floats = call i1 @agrees(ptr %array, ptr %dtype_is, i1 false)
  %count = call i64 @elements(ptr %array)
  %few = icmp slt i64 %count, 16385
  %some = icmp sgt i64 %count, 0
  %c1 = and i1 %floats, %few
  %c2 = and i1 %c1, %some
  br i1 %c2, label %make, label %slow
make:
  %of = call ptr @at(ptr %array, i64 56)
  %rank = call i64 @dimensions(ptr %array)
  %shape = call ptr @at(ptr %array, i64 32)
  %value_used = load double, ptr %value_is
  %made = call ptr @filled(i64 %kind, ptr %of, i64 %rank, ptr %shape, i64 %count, double %value_used)
  ret ptr %made
slow:
  %usual_way = call ptr @otherwise(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}

define ptr @path_empty(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @make_path(i64 0, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

define ptr @path_empty_like(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @like_path(i64 0, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

define ptr @path_zeros(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @make_path(i64 1, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

define ptr @path_zeros_like(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @like_path(i64 1, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

define ptr @path_ones(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @make_path(i64 2, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

define ptr @path_ones_like(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @like_path(i64 2, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

define ptr @path_full(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @make_path(i64 3, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

define ptr @path_full_like(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @like_path(i64 3, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

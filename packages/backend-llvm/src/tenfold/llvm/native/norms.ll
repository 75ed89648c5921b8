; Layer norm where gradients are recorded: what the body of `layer_norm` does, by the kernel and the rule of `fused_layer_norm`, over
; one dimension. kernels/norm.py fills the variables.

@n_function = global ptr null  ; layer_norm
@n_kernels = global ptr null   ; the kernels of fused_layer_norm by device
@n_attach = global ptr null    ; under which name the globals have what records it
@n_one = global ptr null       ; the number 1

; Whether there is no weight or bias, or a row of this many numbers.
define internal i1 @is_row(ptr %x, i64 %size) {
entry:
  %None = load ptr, ptr @g_None
  %absent = icmp eq ptr %x, %None
  br i1 %absent, label %yes, label %look
look:
  %nd = call i64 @dimensions(ptr %x)
  %n = call i64 @elements(ptr %x)
  %line = icmp eq i64 %nd, 1
  %long = icmp eq i64 %n, %size
  %fits = and i1 %line, %long
  ret i1 %fits
yes:
  ret i1 true
}

; The result, recorded, of a call whose arguments paths.ll has looked at, as arrays and as tensors behind a place for the result;
; null without an error where Python has to.
define internal ptr @norm_recorded(ptr %function, ptr %given, ptr %tensors) {
entry:
  %told = alloca [6 x ptr]
  %ours = load ptr, ptr @n_function
  %is = icmp eq ptr %function, %ours
  br i1 %is, label %what, label %no
what:
  %x = call ptr @pointer(ptr %given, i64 0)
  %over = call ptr @pointer(ptr %given, i64 1)
  %weight = call ptr @pointer(ptr %given, i64 2)
  %bias = call ptr @pointer(ptr %given, i64 3)
  %eps = call ptr @pointer(ptr %given, i64 4)
  %Tuple = load ptr, ptr @g_tuple
  %type = call ptr @at(ptr %over, i64 8)
  %listed = icmp eq ptr %type, %Tuple
  br i1 %listed, label %count, label %no
count:
  %dims_over = call i64 @word(ptr %over, i64 2)
  %nd = call i64 @dimensions(ptr %x)
  %single = icmp eq i64 %dims_over, 1
  %some = icmp sgt i64 %nd, 0
  %fits = and i1 %single, %some
  br i1 %fits, label %size, label %no
size:
  %number = call ptr @pointer(ptr %over, i64 3)
  %n = call i64 @whole_number(ptr %number, i64 -1)
  %dims = call ptr @at(ptr %x, i64 32)
  %last = sub i64 %nd, 1
  %width = call i64 @word(ptr %dims, i64 %last)
  %same = icmp eq i64 %n, %width
  %weight_fits = call i1 @is_row(ptr %weight, i64 %width)
  %bias_fits = call i1 @is_row(ptr %bias, i64 %width)
  %parameters = and i1 %weight_fits, %bias_fits
  %all = and i1 %same, %parameters
  br i1 %all, label %rule, label %no
rule:
  %globals = load ptr, ptr @p_globals
  %attach_name = load ptr, ptr @n_attach
  %attach = call ptr @PyDict_GetItemWithError(ptr %globals, ptr %attach_name)
  %no_attach = icmp eq ptr %attach, null
  br i1 %no_attach, label %no, label %made_rule
made_rule:
  %Function = load ptr, ptr @p_function
  %attach_type = call ptr @at(ptr %attach, i64 8)
  %is_made = icmp eq ptr %attach_type, %Function
  br i1 %is_made, label %kernel, label %no
kernel:
  %CPU = load ptr, ptr @p_CPU
  %kernels = load ptr, ptr @n_kernels
  %k = call ptr @PyDict_GetItemWithError(ptr %kernels, ptr %CPU)
  %unknown = icmp eq ptr %k, null
  br i1 %unknown, label %no, label %native
native:
  %Builtin = load ptr, ptr @p_builtin
  %k_type = call ptr @at(ptr %k, i64 8)
  %is_native = icmp eq ptr %k_type, %Builtin
  br i1 %is_native, label %run, label %no
run:
  %one = load ptr, ptr @n_one
  %t1 = getelementptr ptr, ptr %told, i64 1
  %t2 = getelementptr ptr, ptr %told, i64 2
  %t3 = getelementptr ptr, ptr %told, i64 3
  %t4 = getelementptr ptr, ptr %told, i64 4
  %t5 = getelementptr ptr, ptr %told, i64 5
  store ptr %x, ptr %told
  store ptr %one, ptr %t1
  store ptr %weight, ptr %t2
  store ptr %bias, ptr %t3
  store ptr %eps, ptr %t4
  %r = call ptr @PyObject_Vectorcall(ptr %k, ptr %told, i64 5, ptr null)
  %failed = icmp eq ptr %r, null
  br i1 %failed, label %clear, label %result
result:
  %r_type = call ptr @at(ptr %r, i64 8)
  %r_tuple = icmp eq ptr %r_type, %Tuple
  br i1 %r_tuple, label %three, label %drop
three:
  %r_size = call i64 @word(ptr %r, i64 2)
  %r_three = icmp eq i64 %r_size, 3
  br i1 %r_three, label %tuple, label %drop
tuple:
  %results = call ptr @PyTuple_New(i64 3)
  %no_tuple = icmp eq ptr %results, null
  br i1 %no_tuple, label %clear_r, label %wrap
wrap:
  %i = phi i64 [0, %tuple], [%inext, %put]
  %i_at = add i64 %i, 3
  %a = call ptr @pointer(ptr %r, i64 %i_at)
  %Array = load ptr, ptr @g_ndarray
  %a_type = call ptr @at(ptr %a, i64 8)
  %a_is = icmp eq ptr %a_type, %Array
  br i1 %a_is, label %wrap_it, label %drop_results
wrap_it:
  call void @Py_IncRef(ptr %a)
  %t = call ptr @new_tensor(ptr %a)
  %no_t = icmp eq ptr %t, null
  br i1 %no_t, label %drop_results, label %put
put:
  %set = call i32 @PyTuple_SetItem(ptr %results, i64 %i, ptr %t)
  %inext = add i64 %i, 1
  %end = icmp eq i64 %inext, 3
  br i1 %end, label %record, label %wrap
record:
  call void @Py_DecRef(ptr %r)
  %input = call ptr @pointer(ptr %tensors, i64 1)
  %weight_tensor = call ptr @pointer(ptr %tensors, i64 3)
  %bias_tensor = call ptr @pointer(ptr %tensors, i64 4)
  store ptr %results, ptr %told
  store ptr %input, ptr %t1
  store ptr %one, ptr %t2
  store ptr %weight_tensor, ptr %t3
  store ptr %bias_tensor, ptr %t4
  store ptr %eps, ptr %t5
  call void @Py_IncRef(ptr %attach)
  %answer = call ptr @PyObject_Vectorcall(ptr %attach, ptr %told, i64 6, ptr null)
  call void @Py_DecRef(ptr %attach)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %clear_results, label %done
done:
  call void @Py_DecRef(ptr %answer)
  %y = call ptr @pointer(ptr %results, i64 3)
  call void @Py_IncRef(ptr %y)
  call void @Py_DecRef(ptr %results)
  ret ptr %y
clear_results:  ; the body says what is wrong
  call void @forget()
  call void @Py_DecRef(ptr %results)
  br label %no
drop_results:
  call void @Py_DecRef(ptr %results)
  br label %clear_r
clear_r:
  call void @forget()
  br label %drop
drop:
  call void @Py_DecRef(ptr %r)
  br label %no
clear:
  call void @forget()
  br label %no
no:
  ret ptr null
}

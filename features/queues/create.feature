Feature: Creating a queue
  A queue has a name, and options that are set when it is created.

  @QUEUE-001 @CONN-006
  Scenario: A queue is created
    Given the client is connected
    When the client sends a CreateQueue with id "create" for queue "orders"
    Then the client receives a CreateQueue with id "create" and queue "orders"
    And queue "orders" still exists

  @QUEUE-001 @QUEUE-021 @QUEUE-022 @QUEUE-023
  Scenario: A queue has the options that it was created with
    When the client creates queue "orders" with options:
      | mode                  | 3            |
      | maxQueueSize          | 500          |
      | messageTtl            | 00:30:00     |
      | enableDeadLetterQueue | true         |
      | deadLetterQueueName   | lost-orders  |
      | overflowStrategy      | 1            |
      | maxRetryAttempts      | 7            |
    Then the command succeeds
    And queue "orders" has these properties:
      | name                  | orders       |
      | deliveryMode          | 3            |
      | maxSize               | 500          |
      | messageTtl            | 00:30:00     |
      | enableDeadLetterQueue | true         |
      | deadLetterQueueName   | lost-orders  |
      | overflowStrategy      | 1            |
      | maxRetryAttempts      | 7            |

  @QUEUE-002 @QUEUE-003 @TTL-012 @QUEUE-005 @QUEUE-006 @QUEUE-007
  Scenario: An omitted option has its default
    When the client creates queue "orders" with the payload:
      """
      {}
      """
    Then the command succeeds
    And queue "orders" has these properties:
      | deliveryMode          | 0      |
      | maxSize               | 10000  |
      | messageTtl            | absent |
      | enableDeadLetterQueue | false  |
      | deadLetterQueueName   | absent |
      | overflowStrategy      | 0      |
      | maxRetryAttempts      | 3      |

  @QUEUE-008
  Scenario: Without options a queue has the defaults of the server
    Given a broker with these settings:
      | defaultDeliveryMode | FanOutWithAck |
      | maxQueueSize        | 77            |
    When the client creates queue "orders"
    Then queue "orders" has these properties:
      | deliveryMode     | 1  |
      | maxSize          | 77 |
      | maxRetryAttempts | 3  |

  @QUEUE-002 @QUEUE-003
  Scenario: An omitted option has the default of the protocol, not that of the server
    Given a broker with these settings:
      | defaultDeliveryMode | FanOutWithAck |
      | maxQueueSize        | 77            |
    When the client creates queue "orders" with options:
      | maxRetryAttempts | 2 |
    Then queue "orders" has these properties:
      | deliveryMode     | 0     |
      | maxSize          | 10000 |
      | maxRetryAttempts | 2     |

  @BODY-037 @BODY-038
  Scenario Outline: The delivery mode <given> is number <number>
    When the client creates queue "orders" with options:
      | mode | <given> |
    Then the command succeeds
    And queue "orders" has these properties:
      | deliveryMode | <number> |

    Examples:
      | given            | number |
      | 0                | 0      |
      | 1                | 1      |
      | 2                | 2      |
      | 3                | 3      |
      | RoundRobin       | 0      |
      | FanOutWithAck    | 1      |
      | fanoutwithoutack | 2      |
      | PRIORITYBASED    | 3      |

  @BODY-037 @BODY-039
  Scenario Outline: The overflow strategy <given> is number <number>
    When the client creates queue "orders" with options:
      | overflowStrategy      | <given> |
      | enableDeadLetterQueue | true    |
    Then the command succeeds
    And queue "orders" has these properties:
      | overflowStrategy | <number> |

    Examples:
      | given          | number |
      | 0              | 0      |
      | 1              | 1      |
      | 2              | 2      |
      | 3              | 3      |
      | DropOldest     | 0      |
      | dropnewest     | 1      |
      | BLOCKPUBLISHER | 2      |
      | RedirectToDlq  | 3      |

  @BODY-040 @BODY-042
  Scenario Outline: The time span <given> is shown as <shown>
    When the client creates queue "orders" with options:
      | messageTtl | <given> |
    Then the command succeeds
    And queue "orders" has these properties:
      | messageTtl | <shown> |

    Examples:
      | given            | shown            |
      | 00:00:30         | 00:00:30         |
      | 1.00:00:00       | 1.00:00:00       |
      | 00:00:00.5000000 | 00:00:00.5000000 |
      | 00:00:00.25      | 00:00:00.2500000 |
      | 01:02:03.0000000 | 01:02:03         |

  @QUEUE-043
  Scenario: Unknown options are ignored
    When the client creates queue "orders" with options:
      | color        | blue |
      | maxQueueSize | 5    |
    Then the command succeeds
    And queue "orders" has these properties:
      | maxSize | 5 |

  @QUEUE-009 @QUEUE-012
  Scenario: A queue that exists is not changed
    Given queue "orders" exists with options:
      | maxQueueSize | 5 |
    When the client creates queue "orders" with options:
      | maxQueueSize | 6 |
    Then the command is refused with QUEUE_EXISTS
    And queue "orders" has these properties:
      | maxSize | 5 |

  @QUEUE-010 @QUEUE-009
  Scenario: Creating a queue that exists without options succeeds
    Given queue "orders" exists with options:
      | maxQueueSize | 5 |
    When the client creates queue "orders"
    Then the command succeeds
    And queue "orders" has these properties:
      | maxSize | 5 |

  @QUEUE-011
  Scenario: Creating a queue that exists with the same options succeeds
    Given queue "orders" exists with options:
      | mode         | FanOutWithAck |
      | maxQueueSize | 5             |
    When the client creates queue "orders" with options:
      | maxQueueSize     | 5 |
      | mode             | 1 |
      | maxRetryAttempts | 3 |
    Then the command succeeds

  @QUEUE-013
  Scenario: An absent dead letter queue name equals the generated one
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    When the client creates queue "orders" with options:
      | enableDeadLetterQueue | true       |
      | deadLetterQueueName   | orders.dlq |
    Then the command succeeds
    And queue "orders" has these properties:
      | deadLetterQueueName | absent |

  @QUEUE-009
  Scenario: Creating a queue again does not change its messages
    Given queue "orders" exists
    And the publisher publishes messages "m1, m2" to queue "orders"
    When the client creates queue "orders"
    Then queue "orders" has 2 waiting messages
